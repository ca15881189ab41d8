package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/search/analysis"
	"cairn/search/query"
)

// A Stretch is a range of the bytes of a text, on the boundaries of characters.
type Stretch struct{ Start, End int }

// A Marker marks the words of a note by which a query finds it: words, their
// inflected forms, the parts of names, what begins with an unfinished word,
// what a misspelled one may be taken for, and phrases as a whole. It knows this
// one note alone: that the index holds a word elsewhere does not keep what is
// like it from being marked.
type Marker struct {
	words   []soughtWord
	phrases []soughtPhrase
}

// NewMarker makes a Marker for a query and the note with that title and body.
// Of a very long body only the beginning tells which of several ways to read a
// word fits it.
func NewMarker(text, title, body string) *Marker {
	m := markerOf(query.Parse(text))
	m.settle(append(tokensOf(title), tokensOf(beginning(body, enough))...))
	return m
}

func markerOf(q query.Query) *Marker {
	m := &Marker{}
	q.Words(func(w query.Word) {
		m.words = append(m.words, newSoughtWord(w))
	}, func(p query.Phrase) {
		m.phrases = append(m.phrases, soughtPhrase{Phrase: p})
	})
	return m
}

// settle reads each word in the first way that fits the tokens of a note.
func (m *Marker) settle(tokens []seen) {
	for _, w := range m.words {
		for i := range w.parts {
			w.parts[i].settle(tokens)
		}
	}
	for i := range m.phrases {
		m.phrases[i].settle(tokens)
	}
}

// Title returns the stretches to mark in the title or a part of it, in order.
func (m *Marker) Title(s string) []Stretch { return m.mark(s, true) }

// Text returns the stretches to mark in the body or a part of it, in order.
func (m *Marker) Text(s string) []Stretch { return m.mark(s, false) }

func (m *Marker) mark(s string, title bool) []Stretch {
	if !utf8.ValidString(s) {
		return nil // it has no boundaries of characters
	}
	return m.among(tokensOf(s), title)
}

func (m *Marker) among(tokens []seen, title bool) []Stretch {
	var out []Stretch
	for _, tok := range tokens {
		if slices.ContainsFunc(m.words, func(w soughtWord) bool { return w.fits(tok, title) }) {
			out = append(out, Stretch{tok.Start, tok.End})
		}
	}
	for _, p := range m.phrases {
		out = append(out, p.in(tokens, title)...)
	}
	return joined(out)
}

// joined puts stretches in order and makes those that overlap or meet one.
func joined(list []Stretch) []Stretch {
	slices.SortFunc(list, func(a, b Stretch) int { return a.Start - b.Start })
	var out []Stretch
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && s.Start <= out[last].End {
			out[last].End = max(out[last].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// A seen is a token with its stem.
type seen struct {
	analysis.Token
	stem string
}

func tokensOf(text string) []seen {
	var out []seen
	for tok := range analysis.Tokens(text) {
		out = append(out, seen{tok, analysis.Stem(tok.Text)})
	}
	return out
}

// beginning is at most limit bytes of s, whole characters.
func beginning(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "")
}

// A soughtWord is a query.Word in the forms by which it may stand in a note.
type soughtWord struct {
	title bool // and only there
	parts []soughtPart
	whole []string // stems
	begun string   // the beginning of a name; may be empty
}

// A soughtPart is a word, or a part of a name, and how it is read.
type soughtPart struct {
	text, stem string
	open       bool
	solid      bool
	reading    reading
	like       like // what a misspelled one is taken for
}

// A reading is what a part stands for: the first of these that the note has.
type reading uint8

const (
	outright reading = iota
	begun
	misspelled
)

func newSoughtWord(w query.Word) soughtWord {
	out := soughtWord{title: w.Field == query.Title}
	for i, text := range w.Parts {
		last := i == len(w.Parts)-1
		out.parts = append(out.parts, soughtPart{
			text: text, stem: analysis.Stem(text), open: last && (w.Open || w.Star), solid: analysis.IsSolid(text),
		})
	}
	for _, whole := range w.Whole {
		out.whole = append(out.whole, analysis.Stem(whole))
	}
	if w.Base != "" {
		out.whole = append(out.whole, analysis.Stem(w.Base))
	}
	if (w.Open || w.Star) && len(w.Whole) > 0 {
		out.begun = w.Whole[0]
	}
	return out
}

// settle reads the part in the first way in which it is among the tokens.
func (p *soughtPart) settle(tokens []seen) {
	if slices.ContainsFunc(tokens, p.fits) {
		return
	}
	if !p.solid && (canPrefix(p.text) || p.open) {
		if p.reading = begun; slices.ContainsFunc(tokens, p.fits) {
			return
		}
	}
	if !canMisspell(p.text) {
		return
	}
	p.reading = misspelled
	for _, p.like = range likesOf(p.text) {
		if slices.ContainsFunc(tokens, p.fits) {
			return
		}
	}
}

func (p *soughtPart) fits(tok seen) bool {
	if tok.stem == p.stem {
		return true
	}
	word := tok.Form == analysis.Word || tok.Form == analysis.Part
	switch {
	case p.reading == misspelled:
		return word && p.like.accepts(tok.Text)
	case p.reading == begun, p.open && canPrefix(p.text):
		return word && strings.HasPrefix(tok.Text, p.text)
	}
	return false
}

func (w soughtWord) fits(tok seen, title bool) bool {
	if w.title && !title {
		return false
	}
	return slices.Contains(w.whole, tok.stem) ||
		w.begun != "" && tok.Form == analysis.Whole && strings.HasPrefix(tok.Text, w.begun) ||
		slices.ContainsFunc(w.parts, func(p soughtPart) bool { return p.fits(tok) })
}

// A soughtPhrase is a phrase, or, in a note that does not hold it, its words.
type soughtPhrase struct {
	query.Phrase
	loose bool
}

func (p *soughtPhrase) settle(tokens []seen) {
	p.loose = len(p.runs(tokens)) == 0
}

func (p soughtPhrase) in(tokens []seen, title bool) []Stretch {
	if p.Field == query.Title && !title {
		return nil
	}
	if !p.loose {
		return p.runs(tokens)
	}
	var out []Stretch
	for _, tok := range tokens {
		if slices.ContainsFunc(p.Words, func(w string) bool { return analysis.Stem(w) == tok.stem }) {
			out = append(out, Stretch{tok.Start, tok.End})
		}
	}
	return out
}

// runs are the places where the words of the phrase follow each other.
func (p soughtPhrase) runs(tokens []seen) (out []Stretch) {
	var text []analysis.Token
	for _, tok := range tokens {
		if tok.InText() {
			text = append(text, tok.Token)
		} else if tok.Form == analysis.Whole && len(p.Words) == 1 && tok.Text == p.Words[0] {
			out = append(out, Stretch{tok.Start, tok.End})
		}
	}
	for i := 0; i+len(p.Words) <= len(text); i++ {
		run := text[i : i+len(p.Words)]
		if slices.EqualFunc(run, p.Words, func(tok analysis.Token, w string) bool { return tok.Text == w }) {
			out = append(out, Stretch{run[0].Start, run[len(run)-1].End})
		}
	}
	return out
}
