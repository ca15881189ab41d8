package query

import (
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
	last  bool // nothing follows it, not even a space
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
	for rest := clip(text); rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if unicode.IsSpace(r) {
			rest = rest[n:]
			continue
		}
		field, skip := leadingField(rest)
		body := rest[skip:]
		if inner, after, ok := quoted(body); ok {
			items = append(items, item{kind: phraseItem, text: inner, field: field})
			rest = after
			continue
		}
		var chunk string
		chunk, rest = cutChunk(rest)
		items = appendChunk(items, chunk, rest == "")
	}
	return items
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

func leadingField(s string) (Field, int) {
	for name, field := range fieldNames {
		if strings.HasPrefix(s, name) {
			return field, len(name)
		}
	}
	return Anywhere, 0
}

var fieldNames = map[string]Field{"title:": Title, "tag:": Tag}

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

// appendChunk takes brackets off both ends of a chunk, but not those that
// belong together inside it, as in foo(bar).
func appendChunk(items []item, chunk string, last bool) []item {
	for strings.HasPrefix(chunk, "(") {
		items = append(items, item{kind: openItem, text: "("})
		chunk = chunk[1:]
	}
	closed := 0
	for strings.HasSuffix(chunk, ")") && strings.Count(chunk, ")") > strings.Count(chunk, "(") {
		closed++
		chunk = chunk[:len(chunk)-1]
	}
	if kind, ok := operators[chunk]; ok {
		items = append(items, item{kind: kind, text: chunk})
	} else if chunk != "" {
		field, skip := leadingField(chunk)
		items = append(items, item{kind: chunkItem, text: chunk[skip:], field: field, last: last && closed == 0})
	}
	for range closed {
		items = append(items, item{kind: closeItem, text: ")"})
	}
	return items
}
