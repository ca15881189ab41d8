package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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
	switch {
	case isEdge(text):
		return v.term(termKey(edgeTerm, text))
	case !canPrefix(text): // far fewer terms than words
		starts = []string{termKey(stemTerm, text), string(edgeTerm) + text}
	}
	return v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(prefixName(stemTerm, text), func() (*postings, error) { return s.union(nil, starts) })
	})
}

// isEdge says that all words which begin with a text have it as an edge. A name
// has none, and neither has what its words are run together, such as io of I/O.
func isEdge(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= minEdge && n <= maxEdge && !isJoined(text)
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
func (v *view) similar(text string) (found *source, err error) {
	for _, like := range likesOf(text) {
		found, err = v.alike(like)
		if err != nil || found.found > 0 {
			break
		}
	}
	return found, err
}

func (v *view) alike(l like) (*source, error) {
	name, starts := prefixName(stemTerm, l.start), []string{string(stemTerm) + l.start, string(exactTerm) + l.start}
	pick := func() (segfile.Automaton, error) { return nil, nil }
	switch {
	case l.first:
		name, starts = similarName("~"+l.text), nil
		for _, form := range firstSlips(l.text) {
			starts = append(starts, termKey(stemTerm, form), termKey(exactTerm, form))
		}
	case l.slip:
		name = similarName(l.start + "~" + l.text)
		pick = sync.OnceValues(func() (segfile.Automaton, error) { return slipsOf(l.text) })
	}
	found, err := v.sourceOf(func(s *seg) (*postings, error) {
		return s.unions.get(name, func() (*postings, error) {
			p, err := pick()
			if err != nil {
				return nil, err
			}
			return s.union(p, starts)
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
