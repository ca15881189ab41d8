package search

import (
	"context"
	"fmt"

	"github.com/blugelabs/bluge/index"

	"cairn/search/segfile"
)

// A segmenter makes segments of many notes, each term of which it looks up but
// once for a segment. It is not safe for concurrent use.
type segmenter struct {
	ctx   context.Context
	w     *writer
	size  int
	maker *documentMaker
	out   *segfile.Builder
	words *segfile.Field
	term  []byte

	segment  int      // counted from 1
	replaced []string // keys of notes that are in earlier segments
}

// newSegmenter makes a segmenter whose notes take about size bytes of memory until
// their segment is made.
func newSegmenter(ctx context.Context, w *writer, size int) *segmenter {
	out := segfile.NewBuilder()
	return &segmenter{ctx: ctx, w: w, size: size, maker: newDocumentMaker(), out: out, words: out.Field(wordField), segment: 1}
}

// add takes in the notes of a chunk.
func (s *segmenter) add(c chunk) (err error) {
	defer recovered(&err)
	for i := range c.docs {
		d := &c.docs[i]
		s.maker.read(d)
		if err := s.out.Add(outline(d.Space, d, s.maker.text)); err != nil {
			return err
		}
		for _, k := range s.maker.used {
			s.out.Hit(s.words, s.number(k, s.maker.level(k)))
		}
	}
	s.replaced = append(s.replaced, c.replaced...)
	if s.out.Size() < s.size {
		return nil
	}
	return s.finish()
}

// number is that of a term in the segment at hand.
func (s *segmenter) number(w *weighed, l level) uint32 {
	if w.segment != s.segment {
		w.segment = s.segment
		if w.numbers == nil {
			w.numbers = new([levels]uint32)
		}
		clear(w.numbers[:])
	}
	if w.numbers[l] == 0 {
		s.term = appendTerm(s.term[:0], w.key, l)
		w.numbers[l] = s.words.Number(s.term) + 1
	}
	return w.numbers[l] - 1
}

// finish adds the segment at hand to the index.
func (s *segmenter) finish() (err error) {
	defer recovered(&err)
	if s.out.Len() == 0 {
		return nil
	}
	made, err := s.out.Segment()
	if err != nil {
		return err
	}
	out := index.NewBatch()
	out.Insert(made.AsDocument())
	for _, k := range s.replaced {
		out.Delete(key(k))
	}
	s.segment++
	s.replaced = nil
	if err := s.w.apply(out); err != nil {
		return err
	}
	return s.w.saved.waitFor(s.ctx, maxUnsaved)
}

// maxUnsaved is how many segments may wait for the disk: they are in memory until
// then, and a slow disk must not have all of an index wait.
const maxUnsaved = 4

func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("add notes: %v", r)
	}
}
