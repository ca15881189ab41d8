package secrets

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf8"
)

// minRun is the shortest run that is tried as an encoding: what a token of
// fifteen bytes becomes in base 64.
const minRun = 20

// eachRun calls f with every long enough run over an alphabet. It looks at the
// ends of windows as long as the shortest run: most hold a byte of another
// kind, and the run can only begin behind it.
func eachRun(text []byte, in *alphabet, f func(span)) {
	for i := 0; i+minRun <= len(text); {
		other := i + minRun - 1
		for other >= i && in[text[other]] {
			other--
		}
		if other >= i {
			i = other + 1
			continue
		}
		end := in.after(text, i+minRun, len(text))
		f(span{i, end})
		i = end + 1
	}
}

// An encoding is a way to write bytes as text. What stands glued before a run
// shifts it, so each is tried at several alignments.
type encoding struct {
	in         *alphabet
	alignments int
	decode     func(run []byte) []byte
}

var encodings = []encoding{
	{anyHex, 2, decodeHex},
	{alphabetOf(numerals + lowers + uppers + "+/-_"), 4, decode64},
	{base32std, 8, decode32},
	{alphabetOf(lowers + "234567"), 8, func(run []byte) []byte { return decode32(bytes.ToUpper(run)) }},
}

func decode32(run []byte) []byte {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	run = run[:len(run)/8*8+[]int{0, 0, 2, 2, 4, 5, 5, 7}[len(run)%8]] // the lengths it can have
	plain := make([]byte, enc.DecodedLen(len(run)))
	if _, err := enc.Decode(plain, run); err != nil {
		return nil
	}
	return plain
}

func decodeHex(run []byte) []byte {
	if entropy(run) < 1 {
		return nil // a row of threes is hexadecimal of threes, for ever
	}
	run = run[:len(run)/2*2]
	plain := make([]byte, len(run)/2)
	if _, err := hex.Decode(plain, run); err != nil {
		return nil
	}
	return plain
}

// decode64 reads base 64 in either alphabet.
func decode64(run []byte) []byte {
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	standard := bytes.ReplaceAll(bytes.ReplaceAll(run, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(standard)))
	n, err := base64.RawStdEncoding.Decode(plain, standard)
	if err != nil {
		return nil
	}
	return plain[:n]
}

// minStretch is the shortest text that is picked out of decoded bytes; random
// bytes hold one once in some millions.
const minStretch = 14

// stretches is the text in b: all pieces of printable UTF-8 that are long
// enough, parted by empty lines so that no name meets a foreign value.
func stretches(b []byte) []byte {
	var text []byte
	start := 0
	for i := 0; i <= len(b); {
		c, size := utf8.DecodeRune(b[i:])
		if c != utf8.RuneError && (c >= ' ' && c != 0x7f || c == '\n' || c == '\t' || c == '\r') {
			i += size
			continue
		}
		if i-start >= minStretch {
			text = append(append(text, b[start:i]...), "\n\n"...)
		}
		i += max(size, 1)
		start = i
	}
	return text
}

// isCompressed goes by the magic numbers of gzip (RFC 1952) and of zlib
// (RFC 1950), whose first two bytes are a multiple of 31.
func isCompressed(b []byte) bool {
	return isGzip(b) || len(b) > 2 && b[0] == 0x78 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}) }

var errTooComplex = errors.New("more to read than the budget allows")

// inflate decompresses gzip or zlib up to limit bytes. What a damaged stream
// gives before its fault is text like any other.
func inflate(b []byte, limit int) ([]byte, error) {
	var r io.Reader
	var err error
	if isGzip(b) {
		r, err = gzip.NewReader(bytes.NewReader(b))
	} else {
		r, err = zlib.NewReader(bytes.NewReader(b))
	}
	if err != nil {
		return nil, nil // only looked like a compressed stream
	}
	plain, _ := io.ReadAll(io.LimitReader(r, int64(limit)+1)) // a fault ends the text, no more
	if len(plain) > limit {
		return nil, errTooComplex
	}
	return plain, nil
}
