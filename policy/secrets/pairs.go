package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// The rules of this file read "name, operator, value" in whatever form people
// and programs write it, and judge the value by what the name says.

const (
	maxName  = 64
	maxValue = 512
)

var nameChars = alphabetOf(numerals + lowers + uppers + "_-.")

// namedValue is the check behind every noun.
func namedValue(text []byte, literal span) (match, bool) {
	name, how := nameAround(text, literal)
	if how == noSecret {
		return match{}, false
	}
	return valueOf(text, name, how)
}

func valueOf(text []byte, name span, how strength) (match, bool) {
	at, op := readOperator(text, name.end, how)
	if op == noOperator {
		return match{}, false
	}
	if op == adjacent && how != password && !isFlag(text, name) {
		return match{}, false
	}
	for _, v := range readValue(text, at) {
		if isSecretValue(v.in(text), how, op) {
			return match{span: v}, true
		}
	}
	return match{}, false
}

// nameAround widens a noun to the identifier it stands in and rates it.
func nameAround(text []byte, noun span) (span, strength) {
	name := span{nameChars.before(text, noun.start, maxName), nameChars.after(text, noun.end, maxName)}
	for name.end > noun.end && !base62[text[name.end-1]] {
		name.end-- // the dot of a sentence is no part of it
	}
	if isTestOutput(text, name) {
		return name, noSecret
	}
	words := splitName(name.in(text))
	return name, rate(words, wordBefore(text, name.start))
}

// wordBefore is the word in front of a name, one blank away.
func wordBefore(text []byte, at int) string {
	if at == 0 || text[at-1] != ' ' {
		return ""
	}
	start := letters.before(text, at-1, 20)
	return string(lowerASCII(nil, text[start:at-1]))
}

func isFlag(text []byte, name span) bool {
	return bytes.HasPrefix(name.in(text), []byte("-")) && blanks.at(text, name.end)
}

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
	openers   = alphabetOf("\"'`*[({<$%#\\")
	assigners = alphabetOf(":=>~")
)

// readOperator reads what follows a name. The value begins at the position it
// returns, or behind the quotes there.
func readOperator(text []byte, at int, how strength) (int, operator) {
	closed := closers.after(text, at, 4)
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
	switch c := text[i]; {
	case c == ':' || c == '=' || c == '-' && bytes.HasPrefix(text[i:], []byte("->")) || c == '>':
		end := assigners.after(text, i+1, 3)
		return skipType(text, toValue(text, end)), assigned
	case c == '|':
		return toValue(text, i+1), assigned
	case c == '(' || c == ',':
		end := blanks.after(text, i+1, 8)
		if quotes.at(text, end) || end < len(text) && text[end] == '\\' {
			return end, assigned
		}
		return 0, noOperator
	}
	if end := wordOperator(text, i); end > i {
		return toValue(text, end), spoken
	}
	if i == at {
		return 0, noOperator
	}
	if value := skipType(text, i); value > i {
		return value, assigned
	}
	return i, adjacent
}

// readValueMember reads the second half of a pair of members:
// name: X, value: Y.
func readValueMember(text []byte, i int) (int, bool) {
	for i < len(text) && (spaces[text[i]] || text[i] == ',' || text[i] == '"' || text[i] == '\'') {
		i++
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
var purposes = list{"for ", "of ", "to ", "on ", "at ", "in ", "("}

// maxPurpose is how long the purpose may be.
const maxPurpose = 60

func readPurpose(text []byte, i int) (int, bool) {
	rest := text[i:min(len(text), i+maxPurpose)]
	if !slices.ContainsFunc(purposes, func(p string) bool { return bytes.HasPrefix(rest, []byte(p)) }) {
		return 0, false
	}
	for at, c := range rest {
		switch {
		case c == '\n' || quotes[c]:
			return 0, false
		case c == ':' || c == '=':
			return toValue(text, i+at+1), blanks.at(rest, at+1)
		case c == ' ' && (bytes.HasPrefix(rest[at:], []byte(" is ")) || bytes.HasPrefix(rest[at:], []byte(" was "))):
			return toValue(text, wordOperator(text, i+at+1)), true
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

var foreignOperators = []string{"是", "为", "為", "は", "が", "은 ", "는 ", "이 ", "：", "＝", "é ", "è ", "är ", "это ", "является "}

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

// toValue steps over blanks, one line end, and the mark of a YAML block.
func toValue(text []byte, i int) int {
	i = blanks.after(text, i, 80)
	if i < len(text) && (text[i] == '|' || text[i] == '>') {
		i = alphabetOf("|>-+").after(text, i, 3)
	}
	i = blanks.after(text, i, 8)
	if i < len(text) && text[i] == '\r' {
		i++
	}
	if i < len(text) && text[i] == '\n' {
		i = blanks.after(text, i+1, 80)
		i = alphabetOf("-|>").after(text, i, 1)
		i = blanks.after(text, i, 8)
	}
	return i
}

var (
	valueEnd = alphabetOf(" \t\r\n\"'`<>\x00")
	cutters  = alphabetOf(",;&|")
	trailing = ".,;:)]}*|>%\\"
	quotes   = alphabetOf("\"'`")
)

// readValue returns the readings of the value at i: to the end of its quotes
// or of the word, without the punctuation behind it, and up to a separator
// within it.
func readValue(text []byte, i int) []span {
	start := openers.after(text, i, 6)
	limit := min(len(text), start+maxValue)
	end := start
	if start > i && quotes[text[start-1]] {
		for end < limit && text[end] != text[start-1] && text[end] != '\n' {
			end++
		}
		return []span{{start, start + len(bytes.TrimRight(text[start:end], `\`))}}
	}
	for end < limit && !valueEnd[text[end]] && text[end] < 0x80 {
		end++
	}
	whole := span{start, start + len(bytes.TrimRight(text[start:end], trailing))}
	readings := []span{whole}
	for cut := start + 1; cut < whole.end; cut++ {
		if cutters[text[cut]] {
			return append(readings, span{start, cut})
		}
	}
	return readings
}

// isSecretValue judges a value by the name it belongs to.
func isSecretValue(value []byte, how strength, op operator) bool {
	if len(value) < 6 || isReference(value) || isPlaceholder(value) || isDocumented(value) || holdsEscape(value) {
		return false
	}
	switch {
	case how == weak:
		return len(value) >= 12 && !isBareHash(value) && looksChosen(value) && looksRandom(value)
	case op == adjacent && len(value) < 8:
		return false
	}
	return looksChosen(value)
}

// holdsEscape reports a value that is written in escapes: it is judged in the
// view without them.
func holdsEscape(value []byte) bool {
	return bytes.Contains(value, []byte(`\u`)) || bytes.Contains(value, []byte(`\x`))
}
