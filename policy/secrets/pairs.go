package secrets

import (
	"bytes"
	"slices"
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

// inResourceName reports a name that is a part of an Amazon resource name.
func inResourceName(text []byte, name span) bool {
	if name.start == 0 || text[name.start-1] != ':' {
		return false
	}
	before := text[max(0, name.start-120):name.start]
	return bytes.HasPrefix(before[bytes.LastIndexAny(before, " \t\n\"'=")+1:], []byte("arn:aws"))
}

func valueOf(text []byte, name span, how strength) (match, bool) {
	at, op := readOperator(text, name)
	if op == noOperator {
		return match{}, false
	}
	if op == adjacent && how != passwordName && !isFlag(text, name) && !isDeclared(text, name, at, how) {
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
	if isTestOutput(text, name) || inResourceName(text, name) {
		return name, otherName
	}
	how := rate(splitName(name.in(text)), wordBefore(text, name.start))
	if how == strongName && inPath(text, name) {
		how = weakName // checksum/secret: a digest
	}
	return name, how
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
	return how == strongName && (quotes.at(text, value) || slices.Contains(declarers, wordBefore(text, name.start)))
}

var declarers = list{"env", "gx", "setx", "define"}

// isSecretValue judges a value by the name it belongs to.
func isSecretValue(value []byte, how strength, op operator) bool {
	if len(value) < 6 || isReference(value) || isPlaceholder(value) || isDocumented(value) || holdsEscape(value) {
		return false
	}
	switch {
	case how != passwordName && bytes.IndexByte(value, ' ') >= 0 && (len(value) < 40 || wordShare(value) > 0.2):
		return false // a sentence in quotes
	case how == weakName:
		return len(value) >= 12 && !isBareHash(value) && looksChosen(value) && looksRandom(value)
	case op == adjacent && (len(value) < 8 || bytes.Contains(value, []byte("://"))):
		return false
	}
	return looksChosen(value)
}

// holdsEscape reports a value that is written in escapes: it is judged in the
// view without them.
func holdsEscape(value []byte) bool {
	return bytes.Contains(value, []byte(`\u`)) || bytes.Contains(value, []byte(`\x`))
}
