package search

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring"

	"cairn/search/analysis"
	"cairn/search/query"
)

// A phrase is a query.Phrase bound to a view: lists that every note with the
// phrase is in, and what its stored text then holds.
type phrase struct {
	text    string
	sources []int
	inText  []byte   // the words between spaces
	coded   [][]byte // the words in the numbers of each part; nil until they are looked for
	field   query.Field
	known   map[docRef]bool
}

// A docRef names a document in a view.
type docRef struct {
	part int
	doc  uint32
}

func (p *plan) phrase(ph query.Phrase, scored bool) (*phrase, error) {
	out := &phrase{text: ph.Text, field: ph.Field, coded: make([][]byte, len(p.view.segs)), known: map[docRef]bool{}}
	out.inText = []byte(" " + strings.Join(ph.Words, " ") + " ")
	w := &word{text: ph.Text}
	for i, text := range ph.Words {
		at, err := p.add(p.stemSource(text, scored))
		if err != nil {
			return nil, err
		}
		out.sources = append(out.sources, at)
		w.parts = append(w.parts, []int{at})
		if i == 0 {
			continue
		}
		if k, counts := pairKey(ph.Words[i-1], text); k != "" {
			at, err := p.add(named{name: k, mute: !scored || !counts, read: func() (*source, error) { return p.view.term(k) }})
			if err != nil {
				return nil, err
			}
			out.sources = append(out.sources, at)
		}
	}
	if scored {
		p.words = append(p.words, w)
	}
	return out, nil
}

// pairKey is the term of two words in a row, and whether it says how well a
// note fits.
func pairKey(a, b string) (k string, counts bool) {
	if analysis.IsSolid(a) && analysis.IsSolid(b) {
		return termKey(stemTerm, a+b), true
	}
	if !arePaired(a, b) {
		return "", false
	}
	return pairKeys()[pairGroup(a, b)], false
}

// candidates are the documents that hold all the words of the phrase, in any
// order, found from the rarest on. The caller may change the bitmap.
func (p *plan) candidates(part int, ph *phrase) *roaring.Bitmap {
	order := slices.Clone(ph.sources)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.sources[a].found, p.sources[b].found) })
	out := union([]*roaring.Bitmap{p.sources[order[0]].docs(part)})
	for _, i := range order[1:] {
		if out.IsEmpty() {
			break
		}
		out = p.sources[i].within(part, out)
	}
	return out
}

// holds looks for a phrase in the stored text of a document.
func (p *plan) holds(part int, doc uint32, ph *phrase) (bool, error) {
	ref := docRef{part, doc}
	if known, ok := ph.known[ref]; ok {
		return known, nil
	}
	held, err := p.reads(part, doc, ph)
	if err != nil {
		return false, &DamagedError{Dir: p.view.dir, Err: err}
	}
	ph.known[ref] = held
	return held, nil
}

// reads is holds without a memory.
func (p *plan) reads(part int, doc uint32, ph *phrase) (held bool, err error) {
	s := p.view.segs[part]
	if ph.field != query.Anywhere {
		err := s.text(doc, func(text []byte) { held = bytes.Contains(region(text, ph.field), ph.inText) })
		return held, err
	}
	if ph.coded[part] == nil {
		ph.coded[part] = s.words.Code(nil, ph.inText[1:])
	}
	text, err := s.coded(doc)
	if err != nil {
		return false, err
	}
	return text.After(ph.coded[part])
}

// region is the part of a stored text that a field stands for.
func region(text []byte, f query.Field) []byte {
	if f == query.Anywhere {
		return text
	}
	title, _, _ := bytes.Cut(text, []byte(regionEnd))
	return title
}
