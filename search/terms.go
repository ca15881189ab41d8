package search

import (
	"unicode/utf8"

	"cairn/search/analysis"
)

// The kinds of terms in the field of words. A term is its kind, a text, termSep
// and a level.
const (
	stemTerm  = 'w' // a stem, or a name, or one or two characters of a solid run
	exactTerm = 'x' // a word that differs from its stem
	edgeTerm  = 'p' // the first two or three characters of a word
	pairTerm  = 'b' // a group of pairs of words in a row, for phrases
	titleTerm = 't' // a stem in the title
)

const (
	termSep    = "\x01"
	firstLevel = 'a' // level 0 in a term
)

// The lengths of edges in characters.
const (
	minEdge = 2
	maxEdge = 3
)

// termKey is a term without its level.
func termKey(kind byte, text string) string {
	return string(kind) + text + termSep
}

// withLevel is the term of a key at a level.
func withLevel(key string, l level) []byte {
	return append(append(make([]byte, 0, len(key)+1), key...), firstLevel+byte(l))
}

// termLevel is the level at the end of a term.
func termLevel(term []byte) level { return level(term[len(term)-1] - firstLevel) }

// wordTerms are the keys that one token stands for.
type wordTerms struct {
	stem  string
	exact string // empty if it would be the stem
	edges []string
}

// A termMaker makes keys and remembers them, for most words come again. It is
// not safe for concurrent use.
type termMaker struct {
	known map[termOf]*wordTerms
}

type termOf struct {
	text  string
	edges bool
}

// maxKnown bounds the memory of a termMaker.
const maxKnown = 1 << 15

func newTermMaker() *termMaker { return &termMaker{known: map[termOf]*wordTerms{}} }

func (m *termMaker) terms(tok analysis.Token) *wordTerms {
	of := termOf{tok.Text, tok.Form == analysis.Word || tok.Form == analysis.Part}
	if t := m.known[of]; t != nil {
		return t
	}
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	t := makeTerms(tok.Text, of.edges)
	m.known[of] = t
	return t
}

func makeTerms(text string, edges bool) *wordTerms {
	stem := analysis.Stem(text)
	t := &wordTerms{stem: termKey(stemTerm, stem)}
	if stem != text {
		t.exact = termKey(exactTerm, text)
	}
	if edges {
		for n := minEdge; n <= maxEdge; n++ {
			if end := runeOffset(text, n); end > 0 {
				t.edges = append(t.edges, termKey(edgeTerm, text[:end]))
			}
		}
	}
	return t
}

// runeOffset is the length in bytes of the first n characters of s, or 0 if
// it has fewer.
func runeOffset(s string, n int) int {
	end := 0
	for range n {
		if end >= len(s) {
			return 0
		}
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return end
}
