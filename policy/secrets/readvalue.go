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
