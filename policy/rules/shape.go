package rules

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A shape is what the syntax tree of an expression says of all its matches.
type shape struct {
	literals []string // every match holds one of them; none if that cannot be said
	longest  int      // bytes of a match at most; open if that has no end
	anchored bool     // it asks for the beginning or end of a text or line
}

const (
	open        = -1
	minLiteral  = 3  // bytes; shorter ones stand everywhere
	maxLiterals = 16 // of one expression
)

func shapeOf(re *syntax.Regexp) shape {
	return shape{literals: literalsOf(re), longest: longestOf(re), anchored: isAnchored(re)}
}

func isAnchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	}
	for _, sub := range re.Sub {
		if isAnchored(sub) {
			return true
		}
	}
	return false
}

// literalsOf is a set of texts of which every match holds one, the set whose
// shortest is the longest. They are ASCII: other letters may be written in
// several ways.
func literalsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return longestRun(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		return bestOf(re.Sub)
	case syntax.OpAlternate:
		return oneOfEach(re.Sub)
	}
	return nil
}

// longestRun is the longest run of ASCII in a literal.
func longestRun(text []rune) []string {
	best, run := "", ""
	for _, r := range text {
		if r >= utf8.RuneSelf {
			run = ""
			continue
		}
		if run += string(r); len(run) > len(best) {
			best = run
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// bestOf looks at parts that follow each other; fixed ones make one literal.
func bestOf(parts []*syntax.Regexp) []string {
	var best []string
	run := ""
	for _, part := range parts {
		if text, ok := fixedText(part); ok {
			run += text
			best = better(best, []string{run})
			continue
		}
		run = ""
		best = better(best, literalsOf(part))
	}
	return best
}

// fixedText is the one ASCII text that an expression matches, if there is only
// one.
func fixedText(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return "", true
	case syntax.OpCapture:
		return fixedText(re.Sub[0])
	case syntax.OpLiteral:
		if run := longestRun(re.Rune); run != nil && len(run[0]) == len(re.Rune) {
			return run[0], true
		}
	}
	return "", false
}

func oneOfEach(branches []*syntax.Regexp) []string {
	var all []string
	for _, b := range branches {
		l := literalsOf(b)
		if l == nil || len(all)+len(l) > maxLiterals {
			return nil
		}
		all = append(all, l...)
	}
	return all
}

func better(a, b []string) []string {
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// longestOf is how many bytes a match can have, or open.
func longestOf(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune) // in another case it may be longer
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 {
			return utf8.RuneLen(re.Rune[n-1])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return open
	case syntax.OpRepeat:
		return times(longestOf(re.Sub[0]), re.Max)
	case syntax.OpAlternate:
		return longestBranch(re.Sub)
	case syntax.OpConcat, syntax.OpCapture, syntax.OpQuest:
		return longestChain(re.Sub)
	}
	return 0
}

func times(n, count int) int {
	if n == open || count == open {
		return open
	}
	return n * count
}

func longestBranch(subs []*syntax.Regexp) int {
	most := 0
	for _, sub := range subs {
		n := longestOf(sub)
		if n == open {
			return open
		}
		most = max(most, n)
	}
	return most
}

func longestChain(subs []*syntax.Regexp) int {
	sum := 0
	for _, sub := range subs {
		n := longestOf(sub)
		if n == open {
			return open
		}
		sum += n
	}
	return sum
}
