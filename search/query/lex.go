package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how much of a question is read, in bytes; more than any question
// and less than would make parsing one felt.
const maxText = 16 << 10

// An item is one piece of the question: a chunk of text between spaces, a
// quoted phrase, an operator or a bracket.
type item struct {
	kind  itemKind
	text  string
	field Field
	name  string // of the field, as typed
	last  bool   // nothing follows it, not even a space
}

type itemKind uint8

const (
	chunkItem itemKind = iota
	phraseItem
	andItem
	orItem
	notItem
	openItem
	closeItem
	noItem
)

// lex cuts a question into items. Brackets and operators are still what they
// look like; parse decides whether they are meant.
func lex(text string) []item {
	var items []item
	text = clip(text)
	if isCode(text) {
		text = strings.ReplaceAll(text, `"`, " ")
	}
	for rest := text; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			rest = rest[n:]
			continue
		case r == '(':
			items = append(items, item{kind: openItem, text: "("})
			rest = rest[n:]
			continue
		case r == '-' && namesField(rest[n:]):
			items = append(items, item{kind: notItem, text: "-"})
			rest = rest[n:]
		}
		field, skip := leadingField(rest)
		if inner, after, ok := quoted(rest[skip:]); ok {
			items = append(items, item{kind: phraseItem, text: inner, field: field, name: rest[:skip]})
			rest = after
			continue
		}
		var chunk string
		chunk, rest = cutChunk(rest)
		items = appendChunk(items, chunk, rest == "")
	}
	return openBeforeFilters(items)
}

func namesField(s string) bool {
	field, _ := leadingField(s)
	return field != Anywhere
}

// openBeforeFilters lets the last word be unfinished as it would be if the
// filters that follow it stood elsewhere.
func openBeforeFilters(items []item) []item {
	for i, it := range slices.Backward(items) {
		switch it.kind {
		case chunkItem, phraseItem:
			if it.isFilter() || it.asksNothing() {
				continue
			}
			rest := items[i+1:]
			items[i].last = it.last || slices.ContainsFunc(rest, item.namesFilter) && !slices.ContainsFunc(rest, closesAbove())
			return items
		}
	}
	return items
}

func (it item) namesFilter() bool { return it.field != Anywhere }

// closesAbove says of one item after the other whether it closes a bracket
// that none of them opened.
func closesAbove() func(item) bool {
	depth := 0
	return func(it item) bool {
		switch it.kind {
		case openItem:
			depth++
		case closeItem:
			depth--
		}
		return depth < 0
	}
}

func clip(text string) string {
	text = strings.ToValidUTF8(text, " ")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// isCode says that the quotation marks of a text are those of a program or of
// data, such as {"error": "invalid grant"}, and quote nothing: one of them has in
// front of it what none has that somebody quotes with.
func isCode(text string) bool {
	open := false
	for chunk := range strings.FieldsSeq(text) {
		_, skip := leadingField(strings.TrimLeft(chunk, "-("))
		for i := range len(chunk) {
			if chunk[i] != '"' {
				continue
			}
			if i > 0 && (chunk[i-1] == '\\' || !open && skip == 0 && endsInCode(chunk[i-1])) {
				return true
			}
			open = !open
		}
	}
	return false
}

// endsInCode says that a byte in front of a quotation mark is one of code.
func endsInCode(b byte) bool {
	return strings.IndexByte("{[,:=", b) >= 0 || 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9'
}

// quotes maps an opening quotation mark to the closing one.
var quotes = map[rune]string{'"': `"`, '“': "”", '„': "“", '«': "»", '「': "」", '『': "』"}

// quoted reads a phrase at the start of s. A mark without its partner is no
// quotation.
func quoted(s string) (inner, after string, ok bool) {
	r, n := utf8.DecodeRuneInString(s)
	end, isQuote := quotes[r]
	if !isQuote {
		return "", "", false
	}
	inner, after, ok = strings.Cut(s[n:], end)
	return inner, after, ok
}

// cutChunk cuts s at the first space or opening quotation mark of a pair.
func cutChunk(s string) (chunk, rest string) {
	for i, r := range s {
		if unicode.IsSpace(r) {
			return s[:i], s[i:]
		}
		if i > 0 {
			if _, _, ok := quoted(s[i:]); ok {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

var operators = map[string]itemKind{"AND": andItem, "OR": orItem, "NOT": notItem, "&&": andItem, "||": orItem}

// appendChunk takes closing brackets off a chunk, but not those that belong
// together with one inside it, as in foo(bar).
func appendChunk(items []item, chunk string, last bool) []item {
	closed := 0
	for strings.HasSuffix(chunk, ")") && strings.Count(chunk, ")") > strings.Count(chunk, "(") {
		closed++
		chunk = chunk[:len(chunk)-1]
	}
	if kind, ok := operators[chunk]; ok {
		items = append(items, item{kind: kind, text: chunk})
	} else if chunk != "" {
		field, skip := leadingField(chunk)
		items = append(items, item{kind: chunkItem, text: chunk[skip:], field: field, name: chunk[:skip], last: last && closed == 0})
	}
	for range closed {
		items = append(items, item{kind: closeItem, text: ")"})
	}
	return items
}
