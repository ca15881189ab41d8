package segfile

import "bytes"

// A Coded is a stored value word by word, a word being what ends in a space, or
// the rest of the value. It says of words that come often only which they are,
// without looking them up.
type Coded struct {
	words wordList
	left  []byte
}

// Coded is a stored value of a document; false if it has none in that field. It
// is valid as long as the segment is.
func (d *Dictionary) Coded(doc uint32, field string) (value Coded, ok bool, err error) {
	s := d.segment
	if uint64(doc) >= s.Count() {
		return Coded{}, false, errOutside
	}
	values, err := s.storedOf(doc)
	fields := s.Fields()
	for err == nil && len(values) > 0 {
		var at uint64
		var coded []byte
		if at, coded, values, err = nextValue(values); err == nil && at >= uint64(len(fields)) {
			err = errStored
		}
		if err == nil && fields[at] == field {
			return Coded{s.words, coded}, true, nil
		}
	}
	return Coded{}, false, err
}

// Left is how many bytes the words take that are left.
func (c *Coded) Left() int { return len(c.left) }

// Append appends the words that are left.
func (c Coded) Append(dst []byte) ([]byte, error) { return c.words.appendText(dst, c.left) }

// Next takes the first of the words that are left, if there are any: its number,
// or, if it has none, the word, which is then not nil.
func (c *Coded) Next() (code uint32, word []byte, err error) {
	code, word, rest, err := next(c.left)
	if err == nil && word == nil && int(code) >= c.words.len() {
		err = errStored
	}
	c.left = rest
	return code, word, err
}

// Skip passes over words that have a number which is not in the set, up to the
// first other one and at most most of them, and says how many they were.
func (c *Coded) Skip(set *WordSet, most int) (n int) {
	at := 0
	for ; n < most && at < len(c.left); n++ {
		code, size := uint32(c.left[at]), 1
		if code >= shortCodes {
			if code == literal {
				break
			}
			code, size = readCode(c.left[at:])
		}
		if size == 0 || int(code) >= c.words.len() || set.Has(code) {
			break
		}
		at += size
	}
	c.left = c.left[at:]
	return n
}

// Word is the word with a number; nil only if the segment is damaged. It must
// not be changed, and is valid as long as the segment is.
func (d *Dictionary) Word(code uint32) []byte { return d.segment.words.at(code) }

// A WordSet is numbers of words of one segment.
type WordSet struct {
	short [(shortCodes + 63) / 64]uint64 // a bit for each number of one byte
	long  [lengths][]codes               // the others
}

// Begun is the words that begin with one of the starts.
func (d *Dictionary) Begun(starts []string) *WordSet {
	set := &WordSet{}
	for _, start := range starts {
		for i, found := range d.segment.words.begin([]byte(start)) {
			if i > 0 && found.from < found.to {
				set.long[i] = append(set.long[i], found)
			}
			for code := found.from; i == 0 && code < found.to; code++ {
				set.short[code/64] |= 1 << (code % 64)
			}
		}
	}
	return set
}

// Has says whether the word with a number is in the set.
func (s *WordSet) Has(code uint32) bool {
	if code < shortCodes {
		return s.short[code/64]>>(code%64)&1 != 0
	}
	length := 1
	if code >= shortCodes+middleCodes {
		length = 2
	}
	for _, some := range s.long[length] {
		if some.from <= code && code < some.to {
			return true
		}
	}
	return false
}

// Code appends some words, each of which ends in a space, as they are coded.
func (d *Dictionary) Code(dst, words []byte) []byte {
	for len(words) > 0 {
		var word []byte
		word, words = cutWord(words)
		if code, ok := d.segment.words.find(word); ok {
			dst = appendCode(dst, code)
		} else {
			dst = appendLiteral(dst, word)
		}
	}
	return dst
}

// After says whether words, as Code wrote them, stand somewhere after the first
// word that is left.
func (c Coded) After(words []byte) (bool, error) {
	if len(c.left) == 0 {
		return false, nil
	}
	_, _, left, err := next(c.left)
	for err == nil {
		hit := bytes.Index(left, words)
		if hit < 0 {
			return false, nil
		}
		behind := len(left) - hit
		for err == nil && len(left) > behind { // the bytes may be those in the middle of a word
			_, _, left, err = next(left)
		}
		if err == nil && len(left) == behind {
			return true, nil
		}
	}
	return false, err
}
