package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"

	"cairn/search/analysis"
	"cairn/search/segfile"
)

// maxExpansion is how many terms of a segment a prefix or a misspelled word may
// stand for. Terms that differ only in their level count one by one.
const maxExpansion = 1 << 15

// The names of unions begin with a kind of terms, so that the words that begin
// with "tax" are not taken for the words of a title that begin with "ax".
func prefixName(kind byte, text string) string { return string(kind) + text + "*" }
func similarName(text string) string           { return string(stemTerm) + text + "~" }

// prefix is the notes that hold a word beginning with text.
func (v *view) prefix(text string) (*source, error) {
	starts := []string{string(stemTerm) + text, string(exactTerm) + text}
	switch n := utf8.RuneCountInString(text); {
	case n >= minEdge && n <= maxEdge && !isJoined(text): // only words have edges
		return v.term(termKey(edgeTerm, text))
	case n < minEdge: // far fewer terms than words
		starts = []string{termKey(stemTerm, text), string(edgeTerm) + text}
	}
	return v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(prefixName(stemTerm, text), func() (*postings, error) { return s.union(nil, starts) })
	})
}

// isJoined says that a text is the start of a whole name, such as 0.1 of 0.1.2.
func isJoined(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// titlePrefix is prefix for the words of a title.
func (v *view) titlePrefix(text string) (*source, error) {
	start := string(titleTerm) + text
	return v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(prefixName(titleTerm, text), func() (*postings, error) { return s.union(nil, []string{start}) })
	})
}

// similar is the notes that hold a word one slip of the finger away, or, if there
// is none, one that differs in its ending.
func (n narrower) similar(text string) (found *source, err error) {
	likes, known := n.likes[text]
	if !known {
		if likes, err = likesOf(text); err != nil {
			return nil, err
		}
		n.likes[text] = likes
	}
	for _, like := range likes {
		found, err = n.view.alike(text, like)
		if err != nil || found.found > 0 {
			break
		}
	}
	return found, err
}

// A like is words that are like one that is in no note: those that begin with
// start, and are one slip away if slips is set. Where forms is set, they are among
// those.
type like struct {
	start string
	slips *slips
	forms []string
}

// likesOf are the words that a word may be taken for, the likeliest first.
func likesOf(text string) (out []like, err error) {
	slips, err := slipsOf(text)
	if err != nil {
		return nil, err
	}
	out = append(out, like{start: text[:runeOffset(text, 1)], slips: slips}) // people rarely miss the first letter
	if utf8.RuneCountInString(text) >= minFirstSlip {
		out = append(out, like{slips: slips, forms: firstSlips(text)})
	}
	for _, start := range withoutEnding(text) {
		out = append(out, like{start: start})
	}
	return out, nil
}

func (l like) accepts(form string) bool {
	if l.slips == nil {
		return strings.HasPrefix(form, l.start)
	}
	return l.slips.accept(form, l.start)
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

func (v *view) alike(text string, l like) (*source, error) {
	name := similarName(l.start + "~" + text)
	var pick segfile.Automaton
	starts := []string{string(stemTerm) + l.start, string(exactTerm) + l.start}
	switch {
	case l.slips == nil:
		name = prefixName(stemTerm, l.start)
	case l.forms == nil:
		pick = l.slips
	default:
		starts = nil
		for _, form := range l.forms {
			starts = append(starts, termKey(stemTerm, form), termKey(exactTerm, form))
		}
	}
	found, err := v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(name, func() (*postings, error) {
			return s.union(pick, starts)
		})
	})
	if err != nil {
		return nil, err
	}
	found.like = l
	return found, nil
}

// union joins the lists of all terms that begin with one of the starts and
// that pick accepts. A note that holds several has the best of their levels.
func (s *seg) union(pick segfile.Automaton, starts []string) (*postings, error) {
	m := maxima.Get().(*maximum) // it goes back only if all went well, and so is empty
	m.fit(s.rows.Len())
	for _, start := range starts {
		terms := 0
		for e, err := range s.words.Begin([]byte(start), pick) {
			if err == nil {
				err = m.raise(e.Docs, termLevel(e.Term))
			}
			if err != nil {
				return nil, err
			}
			if terms++; terms == maxExpansion {
				break
			}
		}
	}
	p := m.postings(s.rows.Len())
	maxima.Put(m)
	return p, nil
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

// accept says whether a word, or its stem, is so near and begins with start.
func (s *slips) accept(form, start string) bool {
	return s.accepts(form, start) || s.accepts(analysis.Stem(form), start)
}

func (s *slips) accepts(form, start string) bool {
	if !strings.HasPrefix(form, start) {
		return false
	}
	st := s.word.Start()
	for i := range len(form) {
		st = s.word.Accept(st, form[i])
	}
	return s.word.IsMatch(st)
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
