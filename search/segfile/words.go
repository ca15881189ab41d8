package segfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// Stored values are written word by word, a word being what ends in a space. A
// segment has a list of the words that come often in it, and a word of that is
// a number of one to three bytes, of one if it is among the most frequent. Any
// other word is written out.
//
// So a note takes little more than a quarter of its text, where compressing each
// by itself leaves four fifths, and is read as quickly.
//
// A first byte below shortCodes is a number; the others begin a number of two or
// three bytes, but for literal, after which come the length of a word as a
// uvarint and the word.
const (
	shortCodes  = 208
	middleLeads = 39
	longLeads   = literal - shortCodes - middleLeads
	literal     = 0xff

	middleCodes = middleLeads << 8
	longCodes   = longLeads << 16
	maxWords    = shortCodes + middleCodes + longCodes
)

// lengths is how many lengths a number may have.
const lengths = 3

// before are the codes that those of each length come before.
var before = [lengths]int{shortCodes, shortCodes + middleCodes, maxWords}

// maxWord is the length of the longest word that has a number.
const maxWord = 80

// wordEnd ends a word.
const wordEnd = ' '

// cutWord parts the first word of a text from the rest.
func cutWord(text []byte) (word, rest []byte) {
	if i := bytes.IndexByte(text, wordEnd); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, nil
}

// A coder counts words and then writes them. Which words have which number
// depends on nothing but how often each comes.
type coder struct {
	table
	counts []uint32 // by number in the table
	words  []uint32 // numbers in the table, by code
	codes  []uint32 // by number in the table, and one; 0 for words without
}

func newCoder() *coder { return &coder{table: newTable()} }

// reset forgets all words, and keeps the room.
func (c *coder) reset() {
	c.table.reset()
	c.counts, c.words = c.counts[:0], c.words[:0]
}

// number makes room for a word that is new.
func (c *coder) number(word []byte) uint32 {
	n, isNew := c.table.number(word)
	if isNew {
		c.counts = append(c.counts, 0)
	}
	return n
}

// settle gives codes to the words that come often enough to save room by that.
// Words whose numbers are equally long are in order, so that one can be looked
// up.
func (c *coder) settle() {
	for n, count := range c.counts {
		if size := len(c.at(uint32(n))); size <= maxWord && savesRoom(size, int(count)) {
			c.words = append(c.words, uint32(n))
		}
	}
	slices.SortFunc(c.words, func(m, n uint32) int {
		return cmp.Or(cmp.Compare(c.counts[n], c.counts[m]), bytes.Compare(c.at(m), c.at(n)))
	})
	c.words = c.words[:min(len(c.words), maxWords)]
	from := 0
	for _, end := range before {
		end = min(end, len(c.words))
		slices.SortFunc(c.words[from:end], func(m, n uint32) int { return bytes.Compare(c.at(m), c.at(n)) })
		from = end
	}
	c.codes = make([]uint32, c.len())
	for code, n := range c.words {
		c.codes[n] = uint32(code) + 1
	}
}

// savesRoom compares a word in the list, and its longest codes, with as many
// literals.
func savesRoom(size, count int) bool {
	const longest, aroundLiteral = 3, 2
	return count*(size+aroundLiteral) > max(size, slotLen)+count*longest
}

// append appends a word by its number in the table.
func (c *coder) append(dst []byte, number uint32) []byte {
	code := c.codes[number]
	if code == 0 {
		return appendLiteral(dst, c.at(number))
	}
	return appendCode(dst, code-1)
}

func appendCode(dst []byte, code uint32) []byte {
	if code < shortCodes {
		return append(dst, byte(code))
	}
	if code -= shortCodes; code < middleCodes {
		return append(dst, byte(shortCodes+code>>8), byte(code))
	}
	code -= middleCodes
	return append(dst, byte(shortCodes+middleLeads+code>>16), byte(code>>8), byte(code))
}

func appendLiteral(dst, word []byte) []byte {
	dst = binary.AppendUvarint(append(dst, literal), uint64(len(word)))
	return append(dst, word...)
}

// writeTo writes the list: how many words there are, how long all those are that
// do not fit into a slot, a slot for each word, and those words. A slot holds the
// word, filled with zeros, or where it begins among the long ones; and, in its last
// byte, its length. So a word is found and copied in one step.
func (c *coder) writeTo(out *output) {
	var long []byte
	out.uint32(uint32(len(c.words)))
	for _, n := range c.words {
		if word := c.at(n); len(word) > maxInSlot {
			long = append(long, word...)
		}
	}
	out.uint32(uint32(len(long)))
	at := 0
	for _, n := range c.words {
		word := c.at(n)
		var slot [slotLen]byte
		if slot[maxInSlot] = byte(len(word)); len(word) > maxInSlot {
			binary.BigEndian.PutUint32(slot[:], uint32(at))
			at += len(word)
		} else {
			copy(slot[:], word)
		}
		out.bytes(slot[:])
	}
	out.bytes(long)
}

const (
	slotLen   = 16
	maxInSlot = slotLen - 1
)

// A wordList is what writeTo wrote. It is read where it lies.
type wordList struct {
	slots []byte
	long  []byte
}

func (l wordList) len() int { return len(l.slots) / slotLen }

// at is the word with a code, or nil if there is none. It must not be changed.
func (l wordList) at(code uint32) []byte {
	at := int(code) * slotLen
	if at >= len(l.slots) {
		return nil
	}
	slot := l.slots[at : at+slotLen]
	size := int(slot[maxInSlot])
	if size <= maxInSlot {
		return slot[:size]
	}
	start := uint64(binary.BigEndian.Uint32(slot))
	if end := start + uint64(size); size <= maxWord && end <= uint64(len(l.long)) {
		return l.long[start:end]
	}
	return nil
}

// codes are those from the first to before the last.
type codes struct{ from, to uint32 }

// begin finds the codes of the words that begin with start, by their length.
func (l wordList) begin(start []byte) (out [lengths]codes) {
	from := 0
	for i, end := range before {
		end = min(end, l.len())
		first := from + sort.Search(end-from, func(k int) bool { return bytes.Compare(l.at(uint32(from+k)), start) >= 0 })
		out[i].from = uint32(first)
		for step := 1; first < end; step *= 2 { // mostly they are few
			next := min(first+step, end)
			if !bytes.HasPrefix(l.at(uint32(next-1)), start) {
				first += sort.Search(next-first, func(k int) bool { return !bytes.HasPrefix(l.at(uint32(first+k)), start) })
				break
			}
			first = next
		}
		out[i].to = uint32(first)
		from = end
	}
	return out
}

// find is the code of a word; false if it has none.
func (l wordList) find(word []byte) (code uint32, ok bool) {
	from := 0
	for _, end := range before {
		end = min(end, l.len())
		code := uint32(from + sort.Search(end-from, func(k int) bool { return bytes.Compare(l.at(uint32(from+k)), word) >= 0 }))
		if int(code) < end && bytes.Equal(l.at(code), word) {
			return code, true
		}
		from = end
	}
	return 0, false
}

// readCode reads a code of two or three bytes, the first of which is no other
// than that. It takes 0 bytes if there are too few.
func readCode(coded []byte) (code uint32, size int) {
	lead := uint32(coded[0]) - shortCodes
	switch {
	case lead < middleLeads && len(coded) > 1:
		return shortCodes + lead<<8 + uint32(coded[1]), 2
	case lead >= middleLeads && len(coded) > 2:
		return shortCodes + middleCodes + (lead-middleLeads)<<16 + uint32(coded[1])<<8 + uint32(coded[2]), 3
	}
	return 0, 0
}

// readLiteral reads a word that is written out. It takes 0 bytes if there are
// too few.
func readLiteral(coded []byte) (word []byte, size int) {
	length, n := binary.Uvarint(coded[1:])
	if n <= 0 || length > uint64(len(coded)-1-n) {
		return nil, 0
	}
	end := 1 + n + int(length)
	return coded[1+n : end], end
}

// next reads the first word: its code or, if it has none, the word.
func next(coded []byte) (code uint32, word, rest []byte, err error) {
	size := 1
	switch lead := coded[0]; {
	case lead < shortCodes:
		code = uint32(lead)
	case lead == literal:
		word, size = readLiteral(coded)
	default:
		code, size = readCode(coded)
	}
	if size == 0 {
		return 0, nil, nil, errStored
	}
	return code, word, coded[size:], nil
}

// appendText appends the text of coded words.
func (l wordList) appendText(dst, coded []byte) ([]byte, error) {
	dst = slices.Grow(dst, len(coded)*usualWord)
	for len(coded) > 0 {
		code, word, rest, err := next(coded)
		if err == nil && word == nil {
			word = l.at(code)
		}
		if word == nil {
			return nil, errStored
		}
		dst = append(dst, word...)
		coded = rest
	}
	return dst, nil
}

// usualWord is how many times as long as it is coded a text is at most, as a
// rule.
const usualWord = 6
