package rules

import (
	"math/rand/v2"
	"regexp/syntax"
)

// Shape is what is known of all matches of an expression.
func Shape(re *syntax.Regexp) (literals []string, longest int) {
	s := shapeOf(re)
	return s.literals, s.longest
}

// Sample is a random text that an expression matches, unless it is too large.
func Sample(re *syntax.Regexp, r *rand.Rand) (string, bool) { return sample(re, r) }

// Nearest and Edits are how a word is guessed.
var (
	Nearest = nearest
	Edits   = edits
)

// Ordinary is what no pattern may find.
const Ordinary = ordinary
