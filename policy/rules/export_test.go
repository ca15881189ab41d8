package rules

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// Shape is what is known of all matches of an expression.
func Shape(re *syntax.Regexp) (literals []string, longest int) {
	s := shapeOf(re)
	return s.literals, s.longest
}

// Sample is a random text that an expression matches.
func Sample(re *syntax.Regexp, r *rand.Rand) string {
	var b strings.Builder
	sample(&b, re, r)
	return b.String()
}

// Nearest and Edits are how a word is guessed.
var (
	Nearest = nearest
	Edits   = edits
)

// Ordinary is what no pattern may find.
const Ordinary = ordinary
