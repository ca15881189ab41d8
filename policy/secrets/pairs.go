package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// The rules of this file read "name, operator, value" in whatever form people
// and programs write it, and judge the value by what the name says.

const maxName = 64

var nameChars = alphabetOf(numerals + lowers + uppers + "_-.")

// namedValue is the check behind every noun.
func namedValue(text []byte, literal span) (match, bool) {
	name, how := nameAround(text, literal)
	if how == otherName {
		return match{}, false
	}
	if how == weakName && isVariableToken(name.in(text)) {
		how = strongName
	}
	if m, ok := valueOf(text, name, how); ok {
		return m, !isKeyID(name.in(text), m.in(text))
	}
	if how == passwordName && inConnection(text, name) {
		return connectionPassword(text, name)
	}
	return columnValue(text, name, how)
}

// isVariableToken reports the name of an environment variable that ends in
// TOKEN: GITEA_TOKEN.
func isVariableToken(name []byte) bool {
	before, ok := bytes.CutSuffix(name, []byte("_TOKEN"))
	if !ok || len(before) < 2 || lower.count(name) > 0 {
		return false
	}
	words := splitName(before)
	return len(words) > 0 && !slices.Contains(digestWords, words[len(words)-1])
}

// isKeyID reports the id of the OpenPGP key that Git signs with, which gpg
// prints in capitals.
func isKeyID(name, value []byte) bool {
	id := len(value) == 8 || len(value) == 16 || len(value) == 40
	return id && (string(name) == "signingkey" || string(name) == "user.signingkey") && anyHex.holdsAll(value) && lower.count(value) == 0
}

var resourceChars = alphabetOf(numerals + lowers + uppers + "_-./:*")

// inResourceName reports a name that is a part of an Amazon resource name.
func inResourceName(text []byte, name span) bool {
	if name.start == 0 || text[name.start-1] != ':' {
		return false
	}
	start := resourceChars.before(text, name.start, 120)
	return bytes.Contains(text[start:name.start], []byte("arn:aws"))
}

func valueOf(text []byte, name span, how strength) (match, bool) {
	at, op := readOperator(text, name)
	if value, ok := listedValue(text, name); ok {
		at, op = value, assigned
	}
	if op == noOperator {
		return match{}, false
	}
	if op == adjacent && how != passwordName && !isFlag(text, name) && !isDeclared(text, name, at, how) {
		return match{}, false
	}
	readings := readValue(text, at)
	if second := loginGap(text, readings[0]); second > 0 {
		readings = append(readings, readValue(text, second)...) // user / password
	}
	for _, v := range readings {
		if isSecretValue(v.in(text), how, op) {
			return match{span: v}, true
		}
	}
	return match{}, false
}

// loginGap is where the password begins behind a user's name and a slash
// between blanks.
func loginGap(text []byte, user span) int {
	if bytes.HasPrefix(text[user.end:], []byte(" / ")) {
		return user.end + len(" / ")
	}
	return 0
}

// nameAround widens a noun to the identifier it stands in and rates it.
func nameAround(text []byte, noun span) (span, strength) {
	name := span{nameChars.before(text, noun.start, maxName), nameChars.after(text, noun.end, maxName)}
	for name.end > noun.end && !base62[text[name.end-1]] {
		name.end-- // the dot of a sentence is no part of it
	}
	if isTestOutput(text, name) || inResourceName(text, name) {
		return name, otherName
	}
	if bytes.HasPrefix(name.in(text), []byte("-D")) {
		name.start += len("-D") // a definition for a compiler or a virtual machine
	}
	if isScrap(text[name.start:noun.start]) {
		return name, otherName
	}
	how := rate(splitName(name.in(text)), wordBefore(text, name.start))
	if how != otherName && inPath(text, name) {
		how = inFolder(how, string(text[letters.before(text, name.start-1, 20):name.start-1]))
	}
	return name, how
}

// isScrap reports base 64 in front of what looks like a noun: "xZ0YWa1DPw".
func isScrap(before []byte) bool {
	return len(before) >= 6 && !isCapitalPart(before) && wordShare(before) < 0.3 && (switchesCase(before) || digits.count(before) > 2)
}

// isCapitalPart reports the first parts of a variable's name: SRV001_.
func isCapitalPart(before []byte) bool {
	return before[len(before)-1] == '_' && lower.count(before) == 0
}

// inFolder rates the last part of a path: checksum/password is a digest.
func inFolder(how strength, folder string) strength {
	switch {
	case slices.Contains(digestWords, strings.ToLower(folder)):
		return otherName
	case how == strongName:
		return weakName
	}
	return how
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

// isDeclared reports a name that a language or a shell gives its value without
// a sign: #define NAME "X", ENV NAME X, set -gx NAME X.
func isDeclared(text []byte, name span, value int, how strength) bool {
	word := wordBefore(text, name.start)
	return slices.Contains(declarers, word) || how == strongName && (quotes.at(text, value) || word == "with" || word == "using")
}

var declarers = list{"env", "gx", "setx", "define"}

// minSecret is the length of the shortest value that is judged. What is longer than
// longValue is a key and no password, and random from its first byte: text that is
// full of names would have each judge all that follows it.
const (
	minSecret = 6
	longValue = 128
)

// isSecretValue judges a value by the name it belongs to.
func isSecretValue(value []byte, how strength, op operator) bool {
	if len(value) > longValue && !looksRandom(value[:longValue/2]) {
		return false
	}
	if len(value) < minSecret || isAssignment(value, how) || isReference(value) || isPlaceholder(value) || isDocumented(value) || holdsEscape(value) {
		return false
	}
	switch {
	case how != passwordName && bytes.IndexByte(value, ' ') >= 0 && (len(value) < 40 || wordShare(value) > 0.2):
		return false // a sentence in quotes
	case how == weakName:
		return len(value) >= 12 && !isBareHash(value) && looksChosen(value) && looksRandom(value)
	case op == adjacent && (len(value) < 8 || bytes.Contains(value, []byte("://")) || isMention(value, how)):
		return false
	}
	return looksChosen(value) || op != adjacent && (isWordsAndNumber(value) || isGibberish(value) || how == passwordName && isWordsAndNumbers(value))
}

// commonNumbers stand in the names of algorithms, protocols and answers.
var commonNumbers = list{"128", "160", "192", "224", "256", "384", "512", "521", "1024", "2048", "3072", "4096", "8192", "200", "401", "403", "404", "500"}

// isWordsAndNumber reports words in both cases with a number of three digits
// or more: what people make of it when they are asked for three kinds of
// characters.
func isWordsAndNumber(value []byte) bool {
	if !base62.holdsAll(value) {
		return false
	}
	n := countWords(value)
	if n.numbers != 1 || n.longestNumber < 3 || n.longestNumber > 6 || classes(value) < 3 {
		return false
	}
	number := digits.before(value, len(value), len(value))
	return number < len(value) && !slices.Contains(commonNumbers, string(value[number:])) && !isNoun(string(lowerASCII(nil, value[:number])))
}

// isWordsAndNumbers reports words that all begin with a capital, a mark and two
// numbers or more: what people make of words when symbols are asked for, too.
func isWordsAndNumbers(value []byte) bool {
	if len(value) < 10 || base62.count(value) != len(value)-1 {
		return false
	}
	n := countWords(value)
	if n.separators != 1 || n.numbers < 2 || n.longestNumber < 2 || n.longestNumber > 4 || classes(value) < 4 {
		return false
	}
	for i := range value {
		uncapital := lower[value[i]] && !letters.at(value, i-1)
		if uncapital || !digits.at(value, i-1) && slices.Contains(commonNumbers, string(value[i:digits.after(value, i, 4)])) {
			return false
		}
	}
	return digits.at(value, len(value)-1)
}

// isGibberish reports letters and digits of which none are words.
func isGibberish(value []byte) bool {
	return len(value) >= 12 && base62.holdsAll(value) && lower.count(value) > 0 && !anyHex.holdsAll(value) && !isIdentity(value) &&
		wordShare(value) == 0 && entropy(value) >= 3 && !isFiller(value) && !isName(value)
}

var assignment = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+=.`)

// isAssignment reports a name with its value: that is judged by its own name, if
// it is a variable or of a name that says no less.
func isAssignment(value []byte, how strength) bool {
	end := nameChars.after(value, 0, maxName)
	if end == 0 || len(value) < end+1+minSecret || value[end] != '=' && value[end] != ':' {
		return assignment.Match(value)
	}
	return rate(splitName(value[:end]), "") >= how || assignment.Match(value)
}

// holdsEscape reports a value that is written in escapes, or begins with a name
// in angle brackets that are: it is judged in the view without them.
func holdsEscape(value []byte) bool {
	return bytes.Contains(value, []byte(`\u`)) || bytes.Contains(value, []byte(`\x`)) ||
		escapedName.Match(value)
}

var escapedName = regexp.MustCompile(`^&(amp;)*lt;.*&(amp;)*gt`)
