package search

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"

	"cairn/search/segfile"
)

// A maximum finds the best level of each document of a segment among many
// lists. Arrays do that several times as fast as joining bitmaps, of which
// most hold a handful of documents.
type maximum struct {
	best    []uint8  // by document, the level and one; all zero between uses
	touched []uint32 // documents that have one
	few     [levels][]uint32
	dense   [levels][]uint64
	buf     []uint32
}

var maxima = sync.Pool{New: func() any { return &maximum{} }}

func (m *maximum) fit(docs int) {
	if len(m.best) < docs {
		m.best = make([]uint8, docs)
	}
}

func (m *maximum) raise(list segfile.List, l level) error {
	if l >= levels {
		return errLevel
	}
	if doc, only := list.One(); only {
		m.put(doc, l)
		return nil
	}
	var err error
	if m.buf, err = list.AppendTo(m.buf[:0]); err != nil {
		return err
	}
	for _, doc := range m.buf {
		m.put(doc, l)
	}
	return nil
}

func (m *maximum) put(doc uint32, l level) {
	switch former := m.best[doc]; {
	case former == 0:
		m.touched = append(m.touched, doc)
		m.best[doc] = uint8(l) + 1
	case former <= uint8(l):
		m.best[doc] = uint8(l) + 1
	}
}

// postings puts every document, of so many, at its best level. The maximum is
// empty afterwards.
func (m *maximum) postings(docs int) *postings {
	out := noPostings
	if len(m.touched) > 0 {
		out = &postings{docs: docs}
		if len(m.touched) < docs/sparse {
			m.collect(out)
		} else {
			m.paint(out, (docs+63)/64)
		}
	}
	for _, doc := range m.touched {
		m.best[doc] = 0
	}
	m.touched = m.touched[:0]
	return out
}

// collect puts few documents at their levels.
func (m *maximum) collect(out *postings) {
	slices.Sort(m.touched)
	for _, doc := range m.touched {
		l := m.best[doc] - 1
		m.few[l] = append(m.few[l], doc)
	}
	for l, docs := range slices.Backward(m.few[:]) {
		if len(docs) > 0 {
			out.add(docList{few: slices.Clone(docs)}, level(l))
			m.few[l] = docs[:0]
		}
	}
}

// paint puts many documents at their levels, where each list has so many words
// of 64 bits.
func (m *maximum) paint(out *postings, words int) {
	var used [levels]bool
	for _, doc := range m.touched {
		l := m.best[doc] - 1
		if len(m.dense[l]) < words {
			m.dense[l] = make([]uint64, words)
		}
		m.dense[l][doc/64] |= 1 << (doc % 64)
		used[l] = true
	}
	for l, any := range slices.Backward(used[:]) {
		if any {
			out.add(docList{many: roaring.FromDense(m.dense[l][:words], true)}, level(l))
			clear(m.dense[l][:words])
		}
	}
}
