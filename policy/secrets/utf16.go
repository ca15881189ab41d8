package secrets

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// isUTF16 goes by a byte order mark, or by zero bytes that stand at even or at
// odd positions only.
func isUTF16(b []byte) bool { return utf16Order(b) != nil }

func utf16Order(b []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case zeros[0]+zeros[1] < 8:
		return nil
	case zeros[1] > 8*zeros[0]:
		return binary.LittleEndian
	case zeros[0] > 8*zeros[1]:
		return binary.BigEndian
	}
	return nil
}

// readUTF16 is the reading of a text as UTF-16.
func readUTF16(v view) (view, bool) {
	order := utf16Order(v.text)
	if order == nil {
		return view{}, false
	}
	r := rewriter{in: v.text}
	for i := 0; i+1 < len(v.text); i += 2 {
		char := rune(order.Uint16(v.text[i:]))
		size := 2
		if utf16.IsSurrogate(char) && i+3 < len(v.text) {
			char, size = utf16.DecodeRune(char, rune(order.Uint16(v.text[i+2:]))), 4
		}
		r.replace(span{i, i + size}, utf8.AppendRune(nil, char)...)
		i += size - 2
	}
	return r.view(asUTF16, v)
}
