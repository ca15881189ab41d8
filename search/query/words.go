package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/search/analysis"
)

// maxWords is how many words of a question count, beginning with the first.
const maxWords = 256

// maxParts is how many parts of them count, and maxNameParts how many of one: a
// note is compared with each.
const (
	maxParts     = 512
	maxNameParts = 64
)

// A room is what a question has left for words.
type room struct{ words, parts int }

func newRoom() *room { return &room{maxWords, maxParts} }

// take is the first of some words, for which there is room, and the first parts
// of names.
func (r *room) take(words []Word) []Word {
	for i, w := range words {
		if r.words == 0 || r.parts == 0 {
			return words[:i]
		}
		most := r.parts
		if !analysis.IsSolid(w.Text) {
			most = min(most, maxNameParts)
		}
		words[i].Parts = w.Parts[:min(len(w.Parts), most)]
		r.words--
		r.parts -= len(words[i].Parts)
	}
	return words
}

// wordsOf reads a chunk as words.
func wordsOf(it item) []Word {
	text := strings.TrimRight(it.text, "*")
	star := len(text) < len(it.text)
	var out []Word
	for span := range analysis.Spans(text) {
		words := spanWords(span)
		if n := len(words); n > 0 && span.End == len(text) {
			words[n-1].Star = star
			words[n-1].Open = it.last && !star && !span.Solid
		}
		out = append(out, words...)
	}
	for i := range out {
		out[i].Field = it.field
	}
	return out
}

// spanWords leaves out what has no form, such as an accent without a letter.
func spanWords(span analysis.Span) []Word {
	if span.Solid {
		return slices.DeleteFunc(solidWords(span.Text), Word.isFormless)
	}
	return slices.DeleteFunc([]Word{nameWord(span)}, Word.isFormless)
}

func (w Word) isFormless() bool { return len(w.Parts) == 0 }

// nameWord is a name with its forms. Signs belong to the name: C++ is not C.
func nameWord(span analysis.Span) Word {
	w := Word{Text: span.Text}
	var words, humps []string // humps of the word to come
	for tok := range span.Tokens() {
		switch tok.Form {
		case analysis.Part:
			humps = append(humps, tok.Text)
		case analysis.Word:
			words = append(words, tok.Text)
			if humps == nil {
				humps = []string{tok.Text}
			}
			w.Parts = append(w.Parts, humps...)
			humps = nil
		case analysis.Base:
			w.Base = tok.Text
		case analysis.Whole:
			w.Whole = append(w.Whole, tok.Text)
		}
	}
	if len(words) == 1 && len(w.Parts) > 1 {
		w.Whole = append(w.Whole, words[0])
	}
	if len(w.Parts) > 1 {
		w.Base = ""
	}
	if len(w.Whole) > 0 && (strings.HasSuffix(span.Text, "+") || strings.HasSuffix(span.Text, "#")) {
		w.Parts, w.Whole = w.Whole[:1], nil
	}
	w.Stop = isStop(w)
	if other := otherArticle(w.Parts); other != "" {
		w.Whole = append(w.Whole, other)
	}
	return w
}

// article is the Arabic one, which is written as one with its word.
const article = "ال"

// otherArticle is a word with the article if it has none, and without if it has.
func otherArticle(parts []string) string {
	if len(parts) != 1 {
		return ""
	}
	if r, _ := utf8.DecodeRuneInString(parts[0]); !unicode.Is(unicode.Arabic, r) {
		return ""
	}
	if bare, ok := strings.CutPrefix(parts[0], article); ok && utf8.RuneCountInString(bare) > 2 {
		return bare
	}
	return article + parts[0]
}

// isStop also knows contractions, whose parts alone would not tell.
func isStop(w Word) bool {
	if len(w.Whole) > 0 {
		return slices.ContainsFunc(w.Whole, analysis.IsStop)
	}
	return len(w.Parts) == 1 && analysis.IsStop(w.Parts[0])
}

// sequence is the words of a phrase in order, as analysis makes the words of
// a note.
func sequence(text string) []string {
	var out []string
	for tok := range analysis.Tokens(text) {
		if tok.InText() {
			out = append(out, tok.Text)
		}
	}
	return out
}

func (w Word) isMute() bool { return w.Stop }

// isSentence says that words make a sentence: a question begins with a word
// that says nothing, and other sentences hold two of them. Keywords do neither.
// It marks the names in it.
func isSentence(words []Word) bool {
	mute := 0
	for _, w := range words {
		if w.isMute() {
			mute++
		}
	}
	if len(words) < 2 || !words[0].isMute() && mute < 2 {
		return false
	}
	for i, w := range words[1:] {
		r, _ := utf8.DecodeRuneInString(w.Text)
		words[i+1].Name = unicode.IsUpper(r)
	}
	return true
}

// meaningful leaves out words that say nothing, unless there are no others.
func meaningful(words []Word) []Word {
	if rest := slices.DeleteFunc(slices.Clone(words), Word.isMute); len(rest) > 0 {
		return rest
	}
	return words
}

func (w Word) same(v Word) bool {
	return w.Field == v.Field && slices.Equal(w.Parts, v.Parts) && slices.Equal(w.Whole, v.Whole)
}

// distinct drops words that came before; what an end of the text says about
// the later one is kept.
func distinct(words []Word) []Word {
	var out []Word
	for _, w := range words {
		if i := slices.IndexFunc(out, w.same); i >= 0 {
			out[i].Open = out[i].Open || w.Open
			out[i].Star = out[i].Star || w.Star
			continue
		}
		out = append(out, w)
	}
	return out
}
