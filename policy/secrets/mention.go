package secrets

import (
	"bytes"
	"regexp"
)

// isMention reports a value that prose only mentions beside a noun, with nothing
// but a blank between them: "pass" is a verb more often than not, and "the secret
// X" calls an object by its name. Such a value is a piece of a program.
func isMention(value []byte, how strength) bool {
	return isOption(value) || areSettings(value) || isHomePath(value) || genericCall.Match(value) ||
		how == strongName && isObjectName(value)
}

var (
	option       = regexp.MustCompile(`^--[A-Za-z][A-Za-z-]*[ =]|^-[A-Za-z]+[ =][\d:./]+$`)
	genericCall  = regexp.MustCompile(`^[A-Za-z_.]+<[A-Za-z0-9_., \[\]]+>\(`)
	settingName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	plainSetting = regexp.MustCompile(`^(-[A-Za-z]+=)?(v?\d+(\.\d+)*[A-Za-z%]{0,3}|(\d+(h|m|s|ms|d))+|-?\d{1,6}|[A-Za-z]{1,16}(-\d{1,2})?)$`)
	objectPart   = regexp.MustCompile(`^([a-z]+\d{0,2}|\d{1,4}|v\d+[a-z]*\d*|vN)$`)
)

// isOption reports an option of a command with its value. What the value is worth is
// judged by the name of the option.
func isOption(value []byte) bool { return option.Match(value) }

// areSettings reports names with a number, a switch, a version or a word each, or
// none.
func areSettings(value []byte) bool {
	for s := range bytes.FieldsFuncSeq(value, func(r rune) bool { return r == '&' || r == ',' || r == ';' }) {
		name, what, given := bytes.Cut(bytes.TrimSpace(s), []byte("="))
		if !settingName.Match(name) || wordShare(name) < 0.5 && !isName(name) || given && !plainSetting.Match(what) && !isObjectName(what) {
			return false
		}
	}
	return bytes.IndexByte(value, '=') > 0
}

// isHomePath reports a path of words below somebody's home or the folder at hand.
func isHomePath(value []byte) bool {
	for _, begin := range []string{"~/", "./", "../"} {
		if rest, ok := bytes.CutPrefix(value, []byte(begin)); ok {
			return wordShare(rest) > 0.4
		}
	}
	return false
}

func isPartEnd(r rune) bool { return r < 0x80 && r != ' ' && wordSeparators[r] || r == '#' }

// isObjectName reports the name of an object: small letters, short numbers and
// versions, two parts at least, with signs between them.
func isObjectName(value []byte) bool {
	parts, words := 0, 0
	for part := range bytes.FieldsFuncSeq(value, isPartEnd) {
		if !objectPart.Match(part) {
			return false
		}
		parts++
		if len(part) >= 3 && lower.holdsAll(part) && isWord(part) {
			words++
		}
	}
	return parts >= 2 && words > 0
}
