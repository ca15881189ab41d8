package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// An operator is how a name and its value are tied.
type operator uint8

const (
	noOperator operator = iota
	adjacent            // nothing but blanks
	spoken              // "is"
	assigned            // = : => | > ( ,
)

var (
	closers   = alphabetOf("\"'`])*}\\")
	assigners = alphabetOf(":=>~")

	backslashes = alphabetOf(`\`)
	memberGap   = alphabetOf(" \t\r\n,\"'")
	blockMarks  = alphabetOf("|>-+") // of YAML
	stringMarks = alphabetOf("bBrRuUfF")
)

// readOperator reads what follows a name. The value begins at the position it
// returns, or behind the quotes there.
func readOperator(text []byte, name span) (int, operator) {
	closed := closers.after(text, name.end, 4)
	i := blanks.after(text, closed, 40)
	if i >= len(text) {
		return 0, noOperator
	}
	if value, ok := readValueMember(text, i); ok {
		return value, assigned
	}
	if value, ok := readPurpose(text, i); ok {
		return value, spoken
	}
	if value, ok := openedTag(text, name); ok {
		return value, assigned
	}
	if value, ok := readSign(text, name, i); ok {
		return value, assigned
	}
	if end := wordOperator(text, i); end > i {
		return toValue(text, end), spoken
	}
	if value := skipType(text, i); value > i && i > closed {
		return value, assigned
	}
	if text[i] == ',' && blanks.at(text, i+1) {
		i = blanks.after(text, i+1, 4) // here is the password, X
	}
	if i == name.end || !wordChars.at(text, i) && !openers.at(text, i) {
		return 0, noOperator
	}
	if isEscapedEnd(text, name.end) {
		return 0, noOperator // the next line
	}
	return i, adjacent
}

// readSign reads the signs that tie: an assignment of any language, an arrow,
// the end of a tag, the border of a cell, and before a quoted value an opening
// bracket or a comma.
func readSign(text []byte, name span, i int) (int, bool) {
	switch text[i] {
	case '>':
		if i+1 < len(text) && text[i+1] == '@' {
			return 0, false // a placeholder in an address
		}
		return innerTag(text, skipType(text, toValue(text, assigners.after(text, i+1, 3)))), true
	case ':', '=':
		return skipType(text, toValue(text, assigners.after(text, i+1, 3))), true
	case '-':
		if bytes.HasPrefix(text[i:], []byte("--body ")) {
			return toValue(text, i+len("--body ")), true // gh secret set NAME --body X
		}
		return toValue(text, i+2), bytes.HasPrefix(text[i:], []byte("->"))
	case '?', '!':
		return toValue(text, assigners.after(text, i+1, 3)), i+1 < len(text) && text[i+1] == '='
	case '/':
		return toValue(text, i+1), i > name.end && blanks.at(text, i+1)
	case '|':
		return toValue(text, i+1), !inPath(text, name)
	case '<':
		if value, ok := nextElement(text, i); ok {
			return value, true
		}
		return toValue(text, i+2), bytes.HasPrefix(text[i:], []byte("<-"))
	case '(', '{':
		return quotedValue(text, i+1)
	case ',':
		if quotes.at(text, name.start-1) == quotes.at(text, name.end) && !inPath(text, name) {
			return quotedValue(text, i+1)
		}
	}
	return 0, false
}

// inPath reports a name that is the last part of a path.
func inPath(text []byte, name span) bool { return name.start > 0 && text[name.start-1] == '/' }

// quotedValue is where a value in quotes begins, escaped ones included.
func quotedValue(text []byte, i int) (int, bool) {
	at := blanks.after(text, i, 40)
	mark := backslashes.after(text, at, 4)
	return at, mark < len(text) && (text[mark] == '"' || text[mark] == '\'')
}

// readValueMember reads the second half of a pair of members:
// name: X, value: Y.
func readValueMember(text []byte, i int) (int, bool) {
	i = memberGap.after(text, i, 200)
	if bytes.HasPrefix(text[i:], []byte("type:")) {
		i = memberGap.after(text, wordChars.after(text, memberGap.after(text, i+len("type:"), 4), 20), 200)
	}
	end := i + len("value")
	if end >= len(text) || !strings.EqualFold(string(text[i:end]), "value") {
		return 0, false
	}
	end = closers.after(text, end, 3)
	end = blanks.after(text, end, 8)
	if end >= len(text) || text[end] != ':' && text[end] != '=' {
		return 0, false
	}
	return toValue(text, end+1), true
}

// purposes begin what a secret is for: "password for the database is X",
// "password (admin): X".
var purposes = list{
	"for ", "of ", "to ", "on ", "at ", "in ", "from ", "(", "für ", "vom ", "von ", "zum ", "zur ", "pour ", "de ", "du ", "del ", "da ", "do ", "per ", "di ",
	"para ", "van ", "voor ", "от ", "для ", "к ",
}

// maxPurpose is how long the purpose may be.
const maxPurpose = 60

func readPurpose(text []byte, i int) (int, bool) {
	rest := text[i:min(len(text), i+maxPurpose)]
	if !slices.ContainsFunc(purposes, func(p string) bool { return bytes.HasPrefix(rest, []byte(p)) }) {
		return 0, false
	}
	for at, c := range rest {
		switch {
		case c == '\n' || c == '\\' || quotes[c] || strings.IndexByte(".;!?", c) >= 0 && blanks.at(rest, at+1):
			return 0, false // the sentence is over
		case c == ':' || c == '=':
			return toValue(text, i+at+1), blanks.at(rest, at+1)
		case c == ' ' && (bytes.HasPrefix(rest[at:], []byte(" is ")) || bytes.HasPrefix(rest[at:], []byte(" was "))):
			return toValue(text, wordOperator(text, i+at+1)), true
		case c == ' ' && bytes.HasPrefix(rest, []byte("from ")) && bytes.HasPrefix(rest[at:], []byte(" to ")):
			return toValue(text, i+at+len(" to ")), true
		}
	}
	return 0, false
}

// wordOperator is where up to three words that tie a name and a value end:
// "is", "was changed to", "是".
func wordOperator(text []byte, i int) int {
	for range 3 {
		size := operatorWord(text[i:])
		if size == 0 {
			break
		}
		i += size
	}
	return i
}

func operatorWord(s []byte) int {
	if len(s) == 0 {
		return 0
	}
	if s[0] >= 0x80 {
		for _, w := range foreignOperators {
			if bytes.HasPrefix(s, []byte(w)) {
				return len(w)
			}
		}
		return 0
	}
	end := letters.after(s, 0, 10)
	if end == len(s) {
		return 0
	}
	blank := blanks.at(s, end)
	colon := s[end] == ':' && blanks.at(s, end+1)
	switch string(s[:end]) {
	case "is", "was", "are", "now", "set", "changed", "updated", "currently", "will", "should", "be", "to", "equals", "called",
		"es", "ist", "lautet", "est", "esta", "jest", "Is", "IS":
		if blank || colon {
			return end + 1
		}
	case "":
		if (s[0] == '-' || s[0] == '=') && blanks.at(s, 1) {
			return 2
		}
	}
	return 0
}

var foreignOperators = []string{
	"已经", "已", "现在", "就", "用的", "改成了", "改成", "改为", "换成了", "换成", "更新为", "设置为", "设为", "变为", "是", "为", "為", "は", "が", "은 ", "는 ", "이 ", "：", "＝", "→", "⇒", "➜", "⟶", "é ", "è ", "är ", "это ", "является ",
}

// typeWords may stand between a name and its value in a program.
var typeWords = list{"string", "str", "bytes", "text", "char", "any", "varchar", "nsstring", "securestring", "secretstr"}

// skipType steps over a type between a name and its value: "password: str =",
// "token string =".
func skipType(text []byte, i int) int {
	end := wordChars.after(text, i, 24)
	if end == i || !slices.Contains(typeWords, string(lowerASCII(nil, text[i:end]))) {
		return i
	}
	op := blanks.after(text, end, 4)
	if op >= len(text)-1 || text[op] != '=' && text[op] != ':' || text[op+1] == '=' && text[op] != ':' || op == end {
		return i
	}
	return toValue(text, assigners.after(text, op, 3))
}

// toValue steps over blanks, one line end, the mark of a YAML block, the end
// of bold type before a blank, and the letter in front of a string's quotes.
func toValue(text []byte, i int) int {
	if i < len(text) && bytes.HasPrefix(text[i:], []byte("** ")) {
		i += len("** ")
	}
	i = toLine(text, i)
	if stringMarks.at(text, i) && quotes.at(text, i+1) {
		i++
	}
	return i
}

func toLine(text []byte, i int) int {
	i = blanks.after(text, i, 80)
	if i < len(text) && (text[i] == '|' || text[i] == '>') {
		i = blockMarks.after(text, i, 3)
	}
	i = blanks.after(text, i, 8)
	if i < len(text) && text[i] == '\r' {
		i++
	}
	if i < len(text) && text[i] == '\n' {
		i = blanks.after(text, i+1, 80)
		i = blockMarks.after(text, i, 1)
		i = blanks.after(text, i, 8)
	}
	return i
}
