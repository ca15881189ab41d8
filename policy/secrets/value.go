package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// isReference reports values that name a secret instead of being one: a
// variable, a call, a path of names in a program, ciphertext with its mark.
// What stands in braces or behind a dollar sign is judged like any other
// value: names consist of words, secrets do not.
func isReference(value []byte) bool {
	for _, mark := range []string{"ENC[AES256_", "ENC(", "vault:v1:", "op://", "arn:aws"} {
		if bytes.HasPrefix(value, []byte(mark)) {
			return true
		}
	}
	return isPattern(value) || isCall(value) || isTemplate(value) || isSealed(value) || bytes.HasPrefix(bytes.TrimLeft(value, numerals), []byte("]"))
}

// isPattern reports a regular expression for secrets: a class of characters,
// and how many of them.
func isPattern(value []byte) bool { return pattern.Match(value) }

var pattern = regexp.MustCompile(`\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[_+/=.-])+\](?:\{\d|[+*])`)

var variable = regexp.MustCompile(`^[A-Za-z_.][\w. \[\]-]*$`)

// isTemplate reports a name in braces or behind a dollar sign.
func isTemplate(value []byte) bool {
	bare := bytes.Trim(value, "${}<>%[]()# ")
	return len(bare)+2 <= len(value) && (len(bare) < 6 || variable.Match(bare) && digits.count(bare)*5 <= len(bare))
}

// isSealed reports what a SealedSecret holds: base 64 that begins with the
// length of an RSA-encrypted key, 512 bytes.
func isSealed(value []byte) bool {
	return len(value) > 300 && bytes.HasPrefix(value, []byte("Ag")) && base64any.holdsAll(value)
}

// isCall reports the beginning of a call, an index or a literal in a program:
// a name with an opening bracket behind it.
func isCall(value []byte) bool {
	end := identifier.after(value, 0, len(value))
	if end == 0 || end == len(value) || strings.IndexByte("([{", value[end]) < 0 {
		return false
	}
	name := value[:end]
	return wordShare(name) > 0.4 || bytes.IndexByte(name, '.') > 0 && digits.count(name)*4 < len(name)
}

var identifier = alphabetOf(numerals + lowers + uppers + "_.:-$")

// placeholders stand where a password belongs and mean it.
var placeholders = []string{
	"password", "passwd", "passw", "pass", "pwd", "secret", "token", "key", "apikey", "credentials", "none", "null", "nil",
	"true", "false", "undefined", "string", "redacted", "changeme", "hidden", "masked", "omitted", "removed", "filtered",
	"yourpassword", "mypassword", "yourtoken", "yoursecret", "yourkey", "yourapikey", "required", "optional", "empty", "value",
	"username", "user",
}

// isPlaceholder goes by the whole value. Words inside a longer one excuse
// nothing.
func isPlaceholder(value []byte) bool {
	if isBlotted(value) {
		return true
	}
	bare := strings.ToLower(string(value))
	bare = strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_ .:*<>[]{}()'\"`", c) {
			return -1
		}
		return c
	}, bare)
	return len(bare) < 4 || slices.Contains(placeholders, bare) || isMask(bare)
}

// isMask reports what is left of a value that was blotted out: crosses, stars
// or dots in most of it, or one character over and over.
func isMask(s string) bool {
	marks := countAny([]byte(s), "x*.#-")
	return marks*10 >= len(s)*6 || strings.Count(s, s[:1]) == len(s)
}

// maxShown is how much of a secret may be left where the rest is blotted out.
const maxShown = 14

// isBlotted reports the few characters that are left around stars or dots.
func isBlotted(value []byte) bool {
	for _, marks := range []string{"***", "...", "…", "••", `\u2026`} {
		if n := bytes.Count(value, []byte(marks)); n > 0 {
			return base62.count(value)-base62.count([]byte(marks))*n <= maxShown
		}
	}
	return false
}

func countAny(b []byte, chars string) int {
	n := 0
	for _, c := range b {
		if strings.IndexByte(chars, c) >= 0 {
			n++
		}
	}
	return n
}

// classes counts the kinds of characters in a value: lower, upper, digits,
// others.
func classes(value []byte) int {
	n := 0
	for _, a := range []*alphabet{lower, upper, digits} {
		if a.count(value) > 0 {
			n++
		}
	}
	if base62.count(value) < len(value) {
		n++
	}
	return n
}

// looksChosen reports a value that someone or something made up to be hard to
// guess: three kinds of characters and a digit, or sixteen and more that look
// drawn at random. Names and words joined by separators are neither.
func looksChosen(value []byte) bool {
	if len(value) < 8 || isIdentity(value) || isFiller(value) {
		return false
	}
	number := digits.count(value)
	if joinsWords(value) || isName(value) {
		return false
	}
	return classes(value) >= 3 && number > 0 || len(value) >= 16 && entropy(value) >= 3 && (number >= 2 || switchesCase(value))
}
