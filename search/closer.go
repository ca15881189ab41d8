package search

import (
	"bytes"
	"slices"

	"cairn/search/analysis"
)

// closerLook is how many of the best candidates are looked at more closely:
// whether they hold words as they were typed, and next to each other.
const closerLook = 16

// The bonus of a closer look, in units of weight, on the scale of levels.
const (
	exactBonus = 2
	nearBonus  = 6 // for neighbors; less the farther apart
	nearWindow = 3 // how far apart still counts
)

// maxLook is how many words of a stored text are looked at.
const maxLook = 4096

// A look is the words of a question, to be found in stored texts.
type look struct {
	words []lookWord
	parts []*partLook // by part; nil for those of which no text was looked at
}

type lookWord struct {
	stem, exact string
	weight      uint32
}

// lookAt takes the words in the order of the question; those of scripts without
// spaces are found by their pairs already.
func lookAt(words []*word) *look {
	var out []lookWord
	for _, w := range words {
		if w.solid {
			continue
		}
		for i, text := range w.texts {
			out = append(out, lookWord{stem: analysis.Stem(text), exact: text, weight: w.weights[i]})
		}
	}
	return newLook(out)
}

func newLook(words []lookWord) *look { return &look{words: words} }

// reorder ranks the first candidates again, each among those that, like it, do
// or do not hold all the words.
func (p *plan) reorder(words []*word, list []candidate) error {
	list = list[:min(len(list), p.depth(words))]
	l := lookAt(words)
	if len(l.words) == 0 && !p.leans(words) {
		return nil
	}
	l.parts = make([]*partLook, len(p.view.segs))
	for i, c := range list {
		bonus, err := l.at(c.part, p.view.segs[c.part].seg).bonus(c.doc)
		if err != nil {
			return &DamagedError{Dir: p.view.dir, Err: err}
		}
		list[i].score += bonus
	}
	if p.leans(words) {
		if err := p.lean(list); err != nil {
			return err
		}
	}
	t := top{view: p.view}
	slices.SortFunc(list, t.compare)
	return nil
}

// A sight is what has been seen of one text.
type sight struct {
	*look
	pos  int
	seen []seenWord // by word
}

type seenWord struct {
	last  int  // where it was seen last, counting from 1
	exact bool // as typed
	near  int  // its least distance to the word before it; 0 for none
}

func newSight(l *look) *sight { return &sight{look: l, seen: make([]seenWord, len(l.words))} }

func (s *sight) reset() {
	s.pos = 0
	clear(s.seen)
}

// bonus is what a text earns: for each word that stands in it as typed, and
// for each two that follow each other in the question and are near each other
// in the text.
func (s *sight) bonus() (sum uint32) {
	for i, w := range s.words {
		if s.seen[i].exact {
			sum += exactBonus * w.weight
		}
		if d := s.seen[i].near; d > 0 {
			sum += nearBonus * min(w.weight, s.words[i-1].weight) / uint32(d)
		}
	}
	return sum
}

// A form is what a look makes of a word of a text.
type form struct {
	kind  formKind
	word  int  // of the look, if it is one of those
	exact bool // as typed
}

type formKind uint8

const (
	otherForm formKind = iota
	soughtForm
	fieldForm // it parts two fields
	noForm
)

// see takes in the next word of the text.
func (s *sight) see(f form) {
	switch f.kind {
	case noForm:
		return
	case fieldForm:
		s.pos += nearWindow // words of two fields are not near each other
		return
	}
	s.pos++
	if f.kind == otherForm {
		return
	}
	i := f.word
	s.seen[i].exact = s.seen[i].exact || f.exact
	if i > 0 {
		s.meet(i, s.seen[i-1].last, 0)
	}
	if i+1 < len(s.words) {
		s.meet(i+1, s.seen[i+1].last, 1) // in the wrong order they count as farther apart
	}
	s.seen[i].last = s.pos
}

// meet notes that the word of a pair stands here whose other one was last at
// at.
func (s *sight) meet(pair, at, extra int) {
	if at == 0 || s.pos-at > nearWindow {
		return
	}
	if d := s.pos - at + extra; s.seen[pair].near == 0 || d < s.seen[pair].near {
		s.seen[pair].near = d
	}
}

// formOf reads a word of a text, with the space that ends it. What does not end
// in one is none.
func (l *look) formOf(word []byte) form {
	text, ended := bytes.CutSuffix(word, []byte(" "))
	switch {
	case !ended, len(text) == 0:
		return form{kind: noForm}
	case text[0] == regionEnd[0], text[0] == lineEnd[0]:
		return form{kind: fieldForm}
	case !slices.ContainsFunc(l.words, func(w lookWord) bool { return w.mayBe(text) }):
		return form{}
	}
	stem := analysis.Stem(string(text))
	i := slices.IndexFunc(l.words, func(w lookWord) bool { return w.stem == stem })
	if i < 0 {
		return form{}
	}
	return form{kind: soughtForm, word: i, exact: string(text) == l.words[i].exact}
}

// commonStart is how many bytes a word and its forms have in common.
const commonStart = 3

// mayBe is quick to tell most forms from those of the word: but for a few
// irregular ones, they have the first letters of its stem.
func (w lookWord) mayBe(form []byte) bool {
	n := min(len(w.stem), len(form), commonStart)
	return w.stem[:n] == string(form[:n]) || w.exact == string(form)
}
