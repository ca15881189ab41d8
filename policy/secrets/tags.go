package secrets

import (
	"bytes"
	"slices"
)

// openedTag is where the content of an element begins whose name is followed
// by attributes.
func openedTag(text []byte, name span) (int, bool) {
	if name.start == 0 || text[name.start-1] != '<' || !blanks.at(text, name.end) {
		return 0, false
	}
	attributes := text[name.end:min(len(text), name.end+maxPurpose)]
	end := bytes.IndexAny(attributes, "<>\n")
	if end < 0 || attributes[end] != '>' || bytes.IndexByte(attributes[:end], '=') < 0 || attributes[end-1] == '/' {
		return 0, false
	}
	return toValue(text, name.end+end+1), true
}

var valueTags = list{"value", "string", "plaintext"}

// innerTag steps over a tag that says no more than that a value follows.
func innerTag(text []byte, i int) int {
	if i >= len(text) || text[i] != '<' {
		return i
	}
	end := letters.after(text, i+1, 12)
	if end < len(text) && text[end] == '>' && slices.Contains(valueTags, string(lowerASCII(nil, text[i+1:end]))) {
		return spaces.after(text, end+1, 40)
	}
	return i
}

// nextElement is where the value begins behind the end of the element that
// holds the name: <key>password</key><string>X.
func nextElement(text []byte, i int) (int, bool) {
	if !bytes.HasPrefix(text[i:], []byte("</")) {
		return 0, false
	}
	end := letters.after(text, i+2, 12)
	if end >= len(text) || text[end] != '>' {
		return 0, false
	}
	tag := spaces.after(text, end+1, 80)
	value := innerTag(text, tag)
	return value, value > tag
}
