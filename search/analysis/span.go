package analysis

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// A Span is a stretch of text that belongs together.
type Span struct {
	Text       string // as written
	Start, End int    // its bytes
	Solid      bool   // a run of a script that is written without spaces
}

// Spans cuts text into spans, in order.
func Spans(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; i < len(text); {
			start, end, solid := next(text, i)
			if end > start && !yield(Span{Text: text[start:end], Start: start, End: end, Solid: solid}) {
				return
			}
			i = max(end, start)
		}
	}
}

// next finds the first span at or after i. It always moves on: start is
// beyond i when the character at i begins no span, and then end equals start.
func next(text string, i int) (start, end int, solid bool) {
	r, n := utf8.DecodeRuneInString(text[i:])
	switch classOf(r) {
	case solidRune:
		return i, endOfRun(text, i), true
	case wordRune:
		return i, endOfName(text, i), false
	case symbolRune:
		return i, i + n, false
	}
	if r == '.' && startsDotName(text, i) {
		return i, endOfName(text, i), false
	}
	return i + n, i + n, false
}

// startsDotName tells .NET and .config from the end of a sentence.
func startsDotName(text string, i int) bool {
	if i > 0 && text[i-1] != ' ' && text[i-1] != '\n' && text[i-1] != '\t' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i+1:])
	return classOf(r) == wordRune
}

func endOfRun(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if c := classOf(r); c != solidRune && c != invisibleRune {
			return i
		}
		i += n
	}
	return i
}

// endOfName is the end of the words joined from i on, without joints that no
// word follows, save the signs of C++ and C#.
func endOfName(text string, i int) int {
	end := i
	for j := i; j < len(text); {
		r, n := utf8.DecodeRuneInString(text[j:])
		c := classOf(r)
		if c != wordRune && c != invisibleRune && c != jointRune {
			break
		}
		j += n
		if c == wordRune {
			end = j
		}
	}
	return end + signs(text[end:], lastWord(text[i:end]))
}

func lastWord(name string) string {
	for i := len(name); i > 0; {
		r, n := utf8.DecodeLastRuneInString(name[:i])
		if classOf(r) == jointRune {
			return name[i:]
		}
		i -= n
	}
	return name
}

// signs is how many bytes of rest belong to the word before it, as in C++,
// C# or F#: only one or two letters take signs, and nothing may follow them.
func signs(rest, word string) int {
	if len(word) == 0 || len(word) > 2 || !isASCII(word) {
		return 0
	}
	n := 0
	for n < len(rest) && (rest[n] == '+' || rest[n] == '#') {
		n++
	}
	if n == 0 || rest[:n] == "+" {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(rest[n:]); classOf(r) == wordRune {
		return 0
	}
	return n
}

type class uint8

const (
	otherRune class = iota
	wordRune
	jointRune
	solidRune
	symbolRune
	invisibleRune
)

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		return asciiClass[r]
	}
	switch {
	case r == utf8.RuneError:
		return otherRune
	case isInvisible(r):
		return invisibleRune
	case isSolid(r):
		return solidRune
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		return wordRune
	case isWideJoint(r):
		return jointRune
	case unicode.Is(unicode.So, r), r > 0x2000 && unicode.Is(unicode.Sk, r):
		return symbolRune
	}
	return otherRune
}

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[r] = wordRune
		}
	}
	for _, r := range `-_./:@\'+#` {
		table[r] = jointRune
	}
	return table
}()

func isWideJoint(r rune) bool {
	switch r {
	case '’', '‐', '‑', '－', '＿', '．', '／', '：', '＠', '＼', '＋', '＃', '＇':
		return true
	}
	return false
}

// isSolid says that r belongs to a script whose words are not set apart by
// spaces, or, for Korean, whose words carry endings that a search must see
// past.
func isSolid(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r == 'ー', r == '々', r == '〆', r == 'ﾞ', r == 'ﾟ', r == 'ｰ', r == 0x3099, r == 0x309a:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// IsSolid says that a form is of a script that is written without spaces.
func IsSolid(form string) bool {
	r, _ := utf8.DecodeRuneInString(form)
	return isSolid(r)
}
