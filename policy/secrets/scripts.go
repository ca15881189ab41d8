package secrets

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// The views of this file read what nobody writes by accident.

// reverse reads a text from its end.
func reverse(v view) (view, bool) {
	backwards := slices.Clone(v.text)
	slices.Reverse(backwards)
	return v.standFor(asReversed, backwards, []run{{0, span{0, len(v.text)}}}), true
}

// readSelectors reads variation selectors as the bytes they can number, 0 to
// 255: they show nothing, however many stand in a row.
func readSelectors(v view) (view, bool) {
	r := rewriter{in: v.text}
	for i := 0; i < len(v.text); {
		if v.text[i] < utf8.RuneSelf {
			i++
			continue
		}
		char, size := utf8.DecodeRune(v.text[i:])
		switch {
		case 0xfe00 <= char && char <= 0xfe0f:
			r.replace(span{i, i + size}, byte(char-0xfe00))
		case 0xe0100 <= char && char <= 0xe01ef:
			r.replace(span{i, i + size}, byte(char-0xe0100+16))
		}
		i += size
	}
	return r.view(asSelectors, v)
}

// rotate reads a text in which letters stand for those half an alphabet on.
func rotate(v view) (view, bool) {
	turned := slices.Clone(v.text)
	for i, c := range turned {
		switch {
		case lower[c]:
			turned[i] = 'a' + (c-'a'+13)%26
		case upper[c]:
			turned[i] = 'A' + (c-'A'+13)%26
		}
	}
	return v.standFor(asRotated, turned, []run{{0, span{0, len(v.text)}}}), true
}

// minSpaced is how many single characters in a row are taken for a word that
// is spelled.
const minSpaced = 16

// readSpelled puts words together that are spelled: single characters with a
// blank behind each.
func readSpelled(v view) (view, bool) {
	r := rewriter{in: v.text}
	for i := 0; i+1 < len(v.text); {
		end := i
		for end+1 < len(v.text) && !spaces[v.text[end]] && v.text[end+1] == ' ' {
			end += 2
		}
		for at := i; end-i >= 2*minSpaced && at < end; at += 2 {
			r.replace(span{at + 1, at + 2})
		}
		i = nextWord(v.text, max(end, i))
	}
	return r.view(asSpelled, v)
}

// nextWord is where the word after the one at i begins.
func nextWord(text []byte, i int) int {
	blank := bytes.IndexByte(text[i:], ' ')
	if blank < 0 {
		return len(text)
	}
	return i + blank + 1
}

// minNumbers is how many numbers in a row are tried as the codes of characters.
const minNumbers = 14

// readNumbers reads lists of numbers, decimal or pairs of hexadecimal digits,
// as the characters they are the codes of.
func readNumbers(v view) (view, bool) {
	r := rewriter{in: v.text}
	for i := 0; i < len(v.text); {
		if !anyHex[v.text[i]] || base62.at(v.text, i-1) {
			i++
			continue
		}
		chars, end := numberList(v.text, i)
		if len(chars) >= minNumbers {
			r.replace(span{i, end}, chars...)
		}
		i = max(end, i+1)
	}
	return r.view(asNumbers, v)
}

var numberSeparators = alphabetOf(" ,:;-+&.\t\r\n[](){}")

// numberList reads the list that starts at i: as decimal if its first number
// is one of two or three digits in the range of printable characters.
func numberList(text []byte, i int) (chars []byte, end int) {
	var hexes, decimals []byte
	end = i
	for at := i; ; {
		if at+2 < len(text) && text[at] == '0' && text[at+1]|0x20 == 'x' {
			at += 2
		}
		next := anyHex.after(text, at, 4)
		size := next - at
		if size < 2 || size > 3 {
			break
		}
		number := text[at:next]
		if size == 2 {
			hexes = append(hexes, hexDigit(number[0])<<4|hexDigit(number[1]))
		}
		if n := decimal(number); n > 0 {
			decimals = append(decimals, n)
		}
		end = next
		at = numberSeparators.after(text, next, 8)
		if at == next {
			break
		}
		if rest := text[at:min(len(text), at+4)]; bytes.EqualFold(rest, []byte("chr(")) {
			at += len(rest)
		}
	}
	if len(decimals) >= len(hexes) {
		return decimals, end
	}
	return hexes, end
}

// decimal is the number that digits write, if it is that of a printable
// character.
func decimal(number []byte) byte {
	n := 0
	for _, c := range number {
		if !digits[c] {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < ' ' || n > '~' {
		return 0
	}
	return byte(n)
}
