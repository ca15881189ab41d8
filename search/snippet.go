package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/search/analysis"
	"cairn/search/query"
)

// Snippet is the stretch of the body of a note with that title, at most limit
// bytes long, that shows best why a query of that text finds it: it holds as
// many of its words as possible, as early as possible. White space becomes
// single spaces, and an ellipsis stands where text was left out. The result is
// valid UTF-8 and never ends within a character; without any of the words it is
// the beginning of body.
func Snippet(text, title, body string, limit int) string {
	if limit <= 0 {
		return ""
	}
	body = strings.ToValidUTF8(body, "\uFFFD")
	q := query.Parse(text)
	want := wantedForms(q)
	from, to := bestWindow(want, body, limit-2*len(ellipsis))
	if from == to && !want.allIn(title) {
		from, to = firstMark(q, title, body)
	}
	return excerpt(body, from, to, limit)
}

const ellipsis = "…"

// wanted are the forms of the words of a query.
type wanted struct {
	stems    map[string]int // to the number of the word
	begins   [256]bool      // first bytes of stems
	prefixes map[string]int
	words    int
}

func wantedForms(q query.Query) *wanted {
	w := &wanted{stems: map[string]int{}, prefixes: map[string]int{}}
	q.Words(func(word query.Word) {
		for _, part := range word.Parts {
			w.addStem(part, w.words)
			if (word.Open || word.Star) && canPrefix(part) {
				w.prefixes[part] = w.words
			}
			w.words++
		}
		for _, whole := range word.Whole {
			w.addStem(whole, w.words-1)
		}
	}, func(p query.Phrase) {
		for _, word := range p.Words {
			w.addStem(word, w.words)
			w.words++
		}
	})
	return w
}

func (w *wanted) addStem(form string, number int) {
	stem := analysis.Stem(form)
	w.stems[stem] = number
	w.begins[stem[0]] = true
}

func (w *wanted) find(form string) (int, bool) {
	if w.begins[form[0]] || analysis.IsIrregular(form) { // a stem takes a while
		if n, ok := w.stems[analysis.Stem(form)]; ok {
			return n, true
		}
	}
	for p, n := range w.prefixes {
		if strings.HasPrefix(form, p) {
			return n, true
		}
	}
	return 0, false
}

// allIn says that a title holds all the words, so that none of them was taken
// for another.
func (w *wanted) allIn(title string) bool {
	held := map[int]bool{}
	for tok := range analysis.Tokens(title) {
		if n, ok := w.find(tok.Text); ok {
			held[n] = true
		}
	}
	return len(held) == w.words
}

// A sighting is a wanted word in the body.
type sighting struct {
	start, end, word int
}

// enough is how much of a long body is read once something was found.
const enough = 64 << 10

// bestWindow is the first stretch of at most limit bytes with the most
// different words; it is empty if there are none.
func bestWindow(w *wanted, body string, limit int) (from, to int) {
	var open []sighting // of the window that ends here
	count := map[int]int{}
	best := 0
	for tok := range analysis.Tokens(body) {
		if best == w.words || best > 0 && tok.Start > enough {
			break
		}
		n, ok := w.find(tok.Text)
		if !ok || tok.End-tok.Start > limit {
			continue
		}
		open = append(open, sighting{tok.Start, tok.End, n})
		count[n]++
		for tok.End-open[0].start > limit {
			if count[open[0].word]--; count[open[0].word] == 0 {
				delete(count, open[0].word)
			}
			open = open[1:]
		}
		if len(count) > best {
			best, from, to = len(count), open[0].start, tok.End
		}
	}
	return from, to
}

// firstMark is where a body first holds what a word was taken for, such as one
// that is spelled nearly the same.
func firstMark(q query.Query, title, body string) (from, to int) {
	m := markerOf(q)
	tokens := tokensOf(beginning(body, enough))
	m.settle(append(tokensOf(title), tokens...))
	if marks := m.among(tokens, false); len(marks) > 0 {
		return marks[0].Start, marks[0].End
	}
	return 0, 0
}

// excerpt is body[from:to] with as much around it as fits, more of it after
// than before.
func excerpt(body string, from, to, limit int) string {
	room := limit - (to - from) - 2*len(ellipsis)
	from = wordStart(body, from-max(room, 0)/3, from)
	if strings.TrimSpace(body[:from]) == "" {
		return cut(squeeze(body, limit), limit)
	}
	return cut(ellipsis+squeeze(body[from:], limit), limit)
}

// wordStart is the first beginning of a word at or after from, or at if there
// is none before it.
func wordStart(body string, from, at int) int {
	if from <= 0 {
		return 0
	}
	for i := from; i < at; i++ {
		if utf8.RuneStart(body[i]) && startsWord(body, i) {
			return i
		}
	}
	return at
}

func startsWord(body string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(body[:i])
	here, _ := utf8.DecodeRuneInString(body[i:])
	return unicode.IsSpace(before) && !unicode.IsSpace(here) || analysis.IsSolid(body[i:])
}

// squeeze makes white space single spaces, and stops once there is more than
// limit bytes.
func squeeze(s string, limit int) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if b.Len() > limit {
			break
		}
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cut shortens s to limit bytes, with an ellipsis if there is room for one.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end, tail := limit-len(ellipsis), ellipsis
	if end <= 0 {
		end, tail = limit, ""
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace) + tail
}
