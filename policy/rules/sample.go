package rules

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// maxExtra is how many times more than it must a sample repeats what has no
// end.
const maxExtra = 8

// sample writes a random text that the expression matches, in printable ASCII
// where that is among what may stand at a place.
func sample(b *strings.Builder, re *syntax.Regexp, r *rand.Rand) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(re.Rune, r))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(member(printable, r))
	case syntax.OpStar:
		several(b, re.Sub[0], r, 0, open)
	case syntax.OpPlus:
		several(b, re.Sub[0], r, 1, open)
	case syntax.OpQuest:
		several(b, re.Sub[0], r, 0, 1)
	case syntax.OpRepeat:
		several(b, re.Sub[0], r, re.Min, re.Max)
	case syntax.OpAlternate:
		sample(b, re.Sub[r.IntN(len(re.Sub))], r)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			sample(b, sub, r)
		}
	}
}

func several(b *strings.Builder, re *syntax.Regexp, r *rand.Rand, least, most int) {
	if most == open || most > least+maxExtra {
		most = least + maxExtra
	}
	for range least + r.IntN(most-least+1) {
		sample(b, re, r)
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
