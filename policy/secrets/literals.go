package secrets

import (
	"fmt"

	"github.com/coregx/ahocorasick"
)

// A finder reports every place where one of its literals stands, overlapping
// ones included. It holds no state between calls.
type finder interface {
	each(text []byte, found func(literal int, at span))
}

// nothing is a finder without literals.
type nothing struct{}

func (nothing) each([]byte, func(int, span)) {}

// chunk bounds the list of matches that is held at a time: a hostile text may
// hold a literal every three bytes.
const chunk = 16 << 10

// automaton finds literals with an Aho-Corasick automaton.
type automaton struct {
	ac      *ahocorasick.Automaton
	overlap int
	lower   bool // literals are in lower case and match in any
}

func newAutomaton(literals []string, lower bool) (*automaton, error) {
	ac, err := ahocorasick.NewBuilder().AddStrings(literals).Build()
	if err != nil {
		return nil, fmt.Errorf("build the literal finder: %w", err)
	}
	overlap := 0
	for _, l := range literals {
		overlap = max(overlap, len(l)-1)
	}
	return &automaton{ac: ac, overlap: overlap, lower: lower}, nil
}

func (a *automaton) each(text []byte, found func(literal int, at span)) {
	var folded []byte
	if a.lower {
		folded = make([]byte, 0, min(len(text), chunk))
	}
	for done := 0; done < len(text); done += chunk - a.overlap {
		part := text[done:min(done+chunk, len(text))]
		if a.lower {
			part = lowerASCII(folded, part)
		}
		for _, m := range a.ac.FindAllOverlapping(part) {
			if done > 0 && m.End <= a.overlap {
				continue // the chunk before has reported it
			}
			found(m.PatternID, span{done + m.Start, done + m.End})
		}
		if done+len(part) == len(text) {
			return
		}
	}
}

func lowerASCII(dst, src []byte) []byte {
	for _, c := range src {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
