package search

import (
	"bytes"
	"slices"

	"cairn/search/analysis"
	"cairn/search/embed"
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

// maxLook is how much of a stored text is looked at, in bytes.
const maxLook = 32 << 10

// A look is the words of a question, to be found in stored texts.
type look struct {
	words []lookWord
	first [256]bool      // first bytes of their forms
	known map[string]int // which word a form is, or -1
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

func newLook(words []lookWord) *look {
	l := &look{words: words, known: map[string]int{}}
	for _, w := range words {
		l.first[w.stem[0]] = true
		l.first[w.exact[0]] = true
	}
	return l
}

// reorder ranks the first candidates again, each among those that, like it, do
// or do not hold all the words.
func (p *plan) reorder(words []*word, list []candidate) error {
	list = list[:min(len(list), p.depth(words))]
	l := lookAt(words)
	if len(l.words) == 0 && !p.leans(words) {
		return nil
	}
	near := make([]float64, len(list))
	for i, c := range list {
		err := p.view.segs[c.part].stored(c.doc, func(text, place []byte) {
			list[i].score += l.bonus(text)
			near[i] = embed.Similarity(p.meaning, place)
		})
		if err != nil {
			return &DamagedError{Dir: p.view.dir, Err: err}
		}
	}
	if p.leans(words) {
		lean(list, near)
	}
	t := top{view: p.view}
	slices.SortFunc(list, t.compare)
	return nil
}

// bonus is what a text earns: for each word that stands in it as typed, and
// for each two that follow each other in the question and are near each other
// in the text.
func (l *look) bonus(text []byte) uint32 {
	s := sight{look: l, last: make([]int, len(l.words)), exact: make([]bool, len(l.words)), near: make([]int, len(l.words))}
	s.read(text[:min(len(text), maxLook)])
	var sum uint32
	for i, w := range l.words {
		if s.exact[i] {
			sum += exactBonus * w.weight
		}
		if d := s.near[i]; d > 0 {
			sum += nearBonus * min(w.weight, l.words[i-1].weight) / uint32(d)
		}
	}
	return sum
}

// A sight is what has been seen of one text.
type sight struct {
	*look
	pos   int
	last  []int  // where each word was seen last, counting from 1
	exact []bool // as typed
	near  []int  // least distance of each word to the one before it; 0 for none
}

func (s *sight) read(text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, ' ')
		if end < 0 {
			return
		}
		s.see(text[:end])
		text = text[end+1:]
	}
}

func (s *sight) see(form []byte) {
	if len(form) == 0 {
		return
	}
	if form[0] == regionEnd[0] || form[0] == lineEnd[0] {
		s.pos += nearWindow // words of two fields are not near each other
		return
	}
	s.pos++
	if !s.first[form[0]] {
		return
	}
	i := s.which(form)
	if i < 0 {
		return
	}
	s.exact[i] = s.exact[i] || string(form) == s.words[i].exact
	if i > 0 {
		s.meet(i, s.last[i-1], 0)
	}
	if i+1 < len(s.words) {
		s.meet(i+1, s.last[i+1], 1) // in the wrong order they count as farther apart
	}
	s.last[i] = s.pos
}

// meet notes that the word of a pair stands here whose other one was last at
// at.
func (s *sight) meet(pair, at, extra int) {
	if at == 0 || s.pos-at > nearWindow {
		return
	}
	if d := s.pos - at + extra; s.near[pair] == 0 || d < s.near[pair] {
		s.near[pair] = d
	}
}

func (l *look) which(form []byte) int {
	if i, ok := l.known[string(form)]; ok {
		return i
	}
	i := -1
	if slices.ContainsFunc(l.words, func(w lookWord) bool { return w.mayBe(form) }) {
		stem := analysis.Stem(string(form))
		i = slices.IndexFunc(l.words, func(w lookWord) bool { return w.stem == stem })
	}
	l.known[string(form)] = i
	return i
}

// mayBe is quick to tell most forms from those of the word: but for a few
// irregular ones, they have the first three letters of its stem.
func (w lookWord) mayBe(form []byte) bool {
	n := min(len(w.stem), len(form), 3)
	return w.stem[:n] == string(form[:n]) || w.exact == string(form)
}
