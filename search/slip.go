package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"

	"cairn/search/analysis"
)

// A like is words that are like one that is in no note, text: those that begin with
// start and, if slip is set, are one slip away from it, which is in its first letter
// if first is set.
type like struct {
	text        string
	start       string
	slip, first bool
}

// likesOf are the words that a word may be taken for, the likeliest first.
func likesOf(text string) []like {
	out := []like{{text: text, start: text[:runeOffset(text, 1)], slip: true}} // people rarely miss the first letter
	if utf8.RuneCountInString(text) >= minFirstSlip {
		out = append(out, like{text: text, slip: true, first: true})
	}
	for _, start := range withoutEnding(text) {
		out = append(out, like{text: text, start: start})
	}
	return out
}

// accepts says whether a word, or its stem, is one of those.
func (l like) accepts(form string) bool {
	switch {
	case !strings.HasPrefix(form, l.start):
		return false
	case l.slip:
		return isSlip(l.text, form) || isSlip(l.text, analysis.Stem(form))
	}
	return true
}

// isSlip says that two words are at most one insertion, deletion, replacement or
// transposition of letters away from each other.
func isSlip(a, b string) bool {
	for a != "" && b != "" {
		r, n := utf8.DecodeRuneInString(a)
		if s, _ := utf8.DecodeRuneInString(b); r != s {
			break
		}
		a, b = a[n:], b[n:]
	}
	for a != "" && b != "" {
		r, n := utf8.DecodeLastRuneInString(a)
		if s, _ := utf8.DecodeLastRuneInString(b); r != s {
			break
		}
		a, b = a[:len(a)-n], b[:len(b)-n]
	}
	left, right := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	if left == 2 && right == 2 {
		n := runeOffset(a, 1)
		return b == a[n:]+a[:n]
	}
	return left <= 1 && right <= 1
}

// An ending is at most maxEnding letters, such as those of a case or a plural that
// no stemmer here knows: Sicherungen, восстановлением. It leaves minStart letters
// or more.
const (
	maxEnding = 3
	minStart  = 6
)

// withoutEnding are what is left of a word that has an ending, the longest first.
func withoutEnding(text string) (out []string) {
	if utf8.RuneCountInString(text) < minStart+2 { // an ending of one letter is one slip
		return nil
	}
	for range maxEnding {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
		if utf8.RuneCountInString(text) < minStart {
			break
		}
		out = append(out, text)
	}
	return out
}

// minFirstSlip is the length of a word whose first letter may be wrong.
const minFirstSlip = 6

// maxLetters is how many letters of an alphabet may stand for a wrong one.
const maxLetters = 40

// firstSlips are the words that are one slip away from another one, which is in
// their first letter: so few that each can be looked up.
func firstSlips(text string) []string {
	first := text[:runeOffset(text, 1)]
	rest := text[len(first):]
	second := rest[:runeOffset(rest, 1)]
	out := []string{rest, second + first + rest[len(second):]}
	r, _ := utf8.DecodeRuneInString(first)
	for _, letter := range alphabetOf(r) {
		out = append(out, string(letter)+rest, string(letter)+text)
	}
	return out
}

// alphabets are the letters of scripts, by their *unicode.RangeTable.
var alphabets sync.Map

// alphabetOf are the first letters of the script of a letter, as they are in
// terms.
func alphabetOf(r rune) []rune {
	for _, script := range unicode.Scripts {
		if !unicode.Is(script, r) {
			continue
		}
		known, ok := alphabets.Load(script)
		if !ok {
			known, _ = alphabets.LoadOrStore(script, lettersOf(script))
		}
		return known.([]rune)
	}
	return nil
}

func lettersOf(script *unicode.RangeTable) (out []rune) {
	for _, run := range script.R16 {
		for c := rune(run.Lo); c <= rune(run.Hi); c += rune(run.Stride) {
			if unicode.IsLetter(c) && analysis.Fold(string(c)) == string(c) {
				out = append(out, c)
			}
			if len(out) == maxLetters {
				return out
			}
		}
	}
	return out
}

// slips accepts the terms of words that are at most one insertion, deletion,
// replacement or transposition away from a word. Its states are those of the
// automaton of the word, moved up by slipStates.
type slips struct {
	word *levenshtein.DFA
}

const (
	slipStart  = iota // before the kind of a term
	slipFailed        // no way to match
	slipDone          // within the level, anything goes
	slipStates
)

var slipBuilder = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
	return levenshtein.NewLevenshteinAutomatonBuilder(1, true)
})

func slipsOf(text string) (*slips, error) {
	b, err := slipBuilder()
	if err != nil {
		return nil, err
	}
	dfa, err := b.BuildDfa(text, 1)
	if err != nil {
		return nil, err
	}
	return &slips{word: dfa}, nil
}

func (s *slips) Start() int           { return slipStart }
func (s *slips) IsMatch(st int) bool  { return st == slipDone }
func (s *slips) CanMatch(st int) bool { return st != slipFailed }

func (s *slips) Accept(st int, c byte) int {
	switch {
	case st == slipDone, st == slipFailed:
		return st
	case st == slipStart && (c == stemTerm || c == exactTerm):
		return s.word.Start() + slipStates
	case st == slipStart:
		return slipFailed
	}
	inner := st - slipStates
	if c == termSep[0] {
		if s.word.IsMatch(inner) {
			return slipDone
		}
		return slipFailed
	}
	next := s.word.Accept(inner, c)
	if !s.word.CanMatch(next) {
		return slipFailed
	}
	return next + slipStates
}
