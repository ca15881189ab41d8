package rules

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// maxExtra is how many times more than it must a sample repeats what has no
// end.
const maxExtra = 8

// What a sample may cost, in bytes written and parts gone through. Repeats that
// stand in each other multiply, also where they write nothing.
const (
	plenty     = 4 << 10  // from here on nothing is repeated more than it must
	maxSampled = 16 << 10 // here it ends, whole or not
)

// A sampler writes one random text that an expression matches, in printable
// ASCII where that is among what may stand at a place.
type sampler struct {
	text strings.Builder
	r    *rand.Rand
	cost int
}

// sample is such a text. It is false for an expression that is too large.
func sample(re *syntax.Regexp, r *rand.Rand) (string, bool) {
	s := &sampler{r: r}
	s.part(re)
	return s.text.String(), !s.over()
}

func (s *sampler) over() bool { return s.cost > maxSampled }

func (s *sampler) part(re *syntax.Regexp) {
	if s.cost++; s.over() {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		s.write(string(re.Rune))
	case syntax.OpCharClass:
		s.write(string(member(re.Rune, s.r)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.write(string(member(printable, s.r)))
	case syntax.OpStar:
		s.several(re.Sub[0], 0, open)
	case syntax.OpPlus:
		s.several(re.Sub[0], 1, open)
	case syntax.OpQuest:
		s.several(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		s.several(re.Sub[0], re.Min, re.Max)
	case syntax.OpAlternate:
		s.part(re.Sub[s.r.IntN(len(re.Sub))])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.part(sub)
		}
	}
}

func (s *sampler) write(text string) {
	s.text.WriteString(text)
	s.cost += len(text)
}

func (s *sampler) several(re *syntax.Regexp, least, most int) {
	switch {
	case s.cost > plenty:
		most = least
	case most == open || most > least+maxExtra:
		most = least + maxExtra
	}
	for range least + s.r.IntN(most-least+1) {
		s.part(re)
	}
}

var printable = []rune{'!', '~'}

// member is a random character of a class, which is a list of first and last
// ones.
func member(class []rune, r *rand.Rand) rune {
	if plain := within(class, printable); len(plain) > 0 {
		class = plain
	}
	total := 0
	for i := 0; i < len(class); i += 2 {
		total += int(class[i+1]-class[i]) + 1
	}
	if total == 0 {
		return 'x' // a class of nothing, which no text can match
	}
	n := r.IntN(total)
	for i := 0; ; i += 2 {
		if width := int(class[i+1]-class[i]) + 1; n >= width {
			n -= width
			continue
		}
		return class[i] + rune(n)
	}
}

func within(class, bounds []rune) []rune {
	var out []rune
	for i := 0; i < len(class); i += 2 {
		if low, high := max(class[i], bounds[0]), min(class[i+1], bounds[1]); low <= high {
			out = append(out, low, high)
		}
	}
	return out
}
