package secrets

import "bytes"

const maxValue = 512

var (
	openers  = alphabetOf("\"'`*[({<$%#\\")
	valueEnd = alphabetOf(" \t\r\n\"'`<>\x00")
	cutters  = alphabetOf(",;&|")
	trailing = ".,;:)]}*|>%\\"
	quotes   = alphabetOf("\"'`")
)

// readValue returns the readings of the value at i: to the end of its quotes
// or of the word, without the punctuation behind it, and up to a separator
// within it.
func readValue(text []byte, i int) []span {
	if quotes.at(text, i) && i+2 < len(text) && text[i+1] == text[i] && spaces[text[i+2]] {
		return []span{{i + 1, i + 1}} // an empty string
	}
	start := openers.after(text, i, 6)
	limit := min(len(text), start+maxValue)
	end := start
	if start > i && quotes[text[start-1]] {
		inner := span{start, quotedEnd(text, start, limit)}
		inner.start = blanks.after(text[:inner.end], start, 2) // French quotes keep a blank on either side
		inner.end = max(inner.start, blanks.before(text, inner.end, 2))
		return []span{inner}
	}
	for end < limit && !valueEnd[text[end]] && text[end] < 0x80 && !isEscapedEnd(text, end) {
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

// isEscapedEnd reports a line end that is written as an escape, be it in a
// string within a string.
func isEscapedEnd(text []byte, i int) bool {
	end := backslashes.after(text, i, 8)
	return end > i && end < len(text) && (text[end] == 'n' || text[end] == 'r')
}

// quotedEnd is where the quotes close that open before start. Escaped ones
// close nothing, unless the opening one is escaped as well.
func quotedEnd(text []byte, start, limit int) int {
	escaped := start > 1 && text[start-2] == '\\'
	end := start
	for end < limit && text[end] != text[start-1] && text[end] != '\n' {
		if text[end] == '\\' && !escaped {
			end++
		}
		end++
	}
	return start + len(bytes.TrimRight(text[start:min(end, limit)], `\`))
}
