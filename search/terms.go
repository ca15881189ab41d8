package search

import (
	"strings"
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

// appendTerm appends the term of a key at a level.
func appendTerm(dst []byte, key string, l level) []byte {
	return append(append(dst, key...), firstLevel+byte(l))
}

// termLevel is the level at the end of a term.
func termLevel(term []byte) level { return level(term[len(term)-1] - firstLevel) }

// A weighed is a key, and what it weighs in the note at hand.
type weighed struct {
	key    string
	weight float64
	used   bool // the note has it, if only with a weight of nothing

	segment int             // for which of a segmenter's the numbers are
	numbers *[levels]uint32 // of its terms there, and one; 0 for none; nil until a segmenter asks
}

// wordTerms are the keys that one token stands for.
type wordTerms struct {
	stem  *weighed
	title *weighed // nil as long as it was in no title
	exact *weighed // nil if it would be the stem
	edges []*weighed
}

// A termMaker makes keys and remembers them, for most words come again. It is
// not safe for concurrent use.
type termMaker struct {
	known map[termOf]*wordTerms
	keys  map[string]*weighed
	names map[string][]knownToken // tokens of whole spans
	pairs [pairGroups]*weighed    // nil for groups that no note was in
}

type termOf struct {
	text  string
	edges bool
}

// A knownToken is a token with its terms. Its place is that in another text.
type knownToken struct {
	analysis.Token
	*wordTerms
}

// maxKnown bounds the memory of a termMaker, and so does longName.
const maxKnown = 1 << 15

// longName is the length of a span that is not remembered.
const longName = 48

func newTermMaker() *termMaker {
	return &termMaker{known: map[termOf]*wordTerms{}, keys: map[string]*weighed{}, names: map[string][]knownToken{}}
}

// tidy forgets if there is too much. It must not be called while a note is
// being weighed.
func (m *termMaker) tidy() {
	if len(m.known) < maxKnown && len(m.names) < maxKnown {
		return
	}
	clear(m.known)
	clear(m.keys)
	clear(m.names)
}

// tokens are those of a span.
func (m *termMaker) tokens(span analysis.Span) []knownToken {
	if known, ok := m.names[span.Text]; ok {
		return known
	}
	var out []knownToken
	for tok := range span.Tokens() {
		out = append(out, knownToken{tok, m.terms(tok)})
	}
	if !span.Solid && len(span.Text) <= longName {
		for i := range out { // a part of a text would keep all of it
			out[i].Text = strings.Clone(out[i].Text)
		}
		m.names[strings.Clone(span.Text)] = out
	}
	return out
}

func (m *termMaker) terms(tok analysis.Token) *wordTerms {
	of := termOf{tok.Text, tok.Form == analysis.Word || tok.Form == analysis.Part}
	if t := m.known[of]; t != nil {
		return t
	}
	of.text = strings.Clone(of.text)
	t := m.make(of.text, of.edges)
	m.known[of] = t
	return t
}

func (m *termMaker) make(text string, edges bool) *wordTerms {
	stem := analysis.Stem(text)
	t := &wordTerms{stem: m.key(stemTerm, stem)}
	if stem != text {
		t.exact = m.key(exactTerm, text)
	}
	if edges {
		for n := minEdge; n <= maxEdge; n++ {
			if end := runeOffset(text, n); end > 0 {
				t.edges = append(t.edges, m.key(edgeTerm, text[:end]))
			}
		}
	}
	return t
}

// key is the one of its text that all words share.
func (m *termMaker) key(kind byte, text string) *weighed {
	k := termKey(kind, text)
	w := m.keys[k]
	if w == nil {
		w = &weighed{key: k}
		m.keys[k] = w
	}
	return w
}

// title is the key of a word for titles.
func (m *termMaker) title(t *wordTerms) *weighed {
	if t.title == nil {
		t.title = m.key(titleTerm, strings.TrimSuffix(t.stem.key[1:], termSep))
	}
	return t.title
}

// pair is the key of a group of pairs.
func (m *termMaker) pair(group uint32) *weighed {
	if m.pairs[group] == nil {
		m.pairs[group] = &weighed{key: pairKeys()[group]}
	}
	return m.pairs[group]
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
