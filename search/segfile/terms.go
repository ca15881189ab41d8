package segfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// The terms of a field stand in their order, each with its list behind it. A term
// is written as how many bytes it has in common with the one before it, how many
// it has beside them, and those. So terms that begin alike are read in one go.
//
// Every termBlock terms there is one that has nothing in common with what is
// before it. What such terms begin with, and where they are, stands in two
// columns behind all terms, in which a term is found by halving.
const (
	termBlock = 16
	columnLen = 8 // of each column, a block
)

// A list begins with a number: its form, and the only document of a term or how
// many bytes the list is long.
const (
	oneForm    = iota // that document
	gapsForm          // see packGaps
	packedForm        // a bitmap of roaring's
	formBits   = 2
	formMask   = 1<<formBits - 1
)

// A termList is the terms of a field, where they lie.
type termList struct {
	entries []byte
	begins  []byte // of the term at the start of each block the first bytes
	places  []byte // where in entries each block begins
	docs    uint64 // of the segment
}

// startOf is the first bytes of a term as a number that is in the order of terms.
func startOf(term []byte) uint64 {
	if len(term) >= columnLen {
		return binary.BigEndian.Uint64(term)
	}
	var start [columnLen]byte
	copy(start[:], term)
	return binary.BigEndian.Uint64(start[:])
}

func (l *termList) blocks() int { return len(l.begins) / columnLen }

// place is where a block begins, which may be anywhere in damaged bytes.
func (l *termList) place(block int) (uint64, error) {
	at := binary.BigEndian.Uint64(l.places[block*columnLen:])
	if at >= uint64(len(l.entries)) {
		return 0, errOutside
	}
	return at, nil
}

// first is the term at the start of a block.
func (l *termList) first(block int) ([]byte, error) {
	at, err := l.place(block)
	if err != nil {
		return nil, err
	}
	shared, text, _, err := cutTerm(l.entries[at:])
	if err == nil && shared != 0 {
		err = errOutside
	}
	return text, err
}

// blockOf is the block in which a term would be, from one on that does not begin
// after it: the last of those.
func (l *termList) blockOf(term []byte, from int) (block int, err error) {
	start := startOf(term)
	isAfter := func(i int) bool {
		if begin := binary.BigEndian.Uint64(l.begins[i*columnLen:]); begin != start {
			return begin > start
		}
		first, ferr := l.first(i)
		if ferr != nil {
			err = ferr
		}
		return bytes.Compare(first, term) > 0
	}
	to := l.blocks()
	for step := 1; from+step < to; step *= 2 { // mostly it is near
		if isAfter(from + step) {
			to = from + step
			break
		}
		from += step
	}
	return from + sort.Search(to-from-1, func(i int) bool { return isAfter(from + 1 + i) }), err
}

// cutTerm parts a term from what is behind it. It is what follows after shared
// bytes of the term before it.
func cutTerm(entries []byte) (shared uint64, text, rest []byte, err error) {
	shared, n := binary.Uvarint(entries)
	if n <= 0 {
		return 0, nil, nil, errOutside
	}
	size, m := binary.Uvarint(entries[n:])
	if m <= 0 || size > uint64(len(entries)-n-m) {
		return 0, nil, nil, errOutside
	}
	entries = entries[n+m:]
	return shared, entries[:size], entries[size:], nil
}

// cutList parts the list of a term from what is behind it.
func (l *termList) cutList(entries []byte) (list List, rest []byte, err error) {
	head, n := binary.Uvarint(entries)
	if n <= 0 {
		return List{}, nil, errOutside
	}
	entries = entries[n:]
	list.docs = l.docs
	number := head >> formBits
	form := head & formMask
	if form == oneForm {
		if number >= l.docs {
			return List{}, nil, errOutside
		}
		list.one = uint32(number)
		return list, entries, nil
	}
	if number == 0 || number > uint64(len(entries)) {
		return List{}, nil, errOutside
	}
	switch form {
	case gapsForm:
		list.gaps = entries[:number]
	case packedForm:
		list.packed = entries[:number]
	default:
		return List{}, nil, errOutside
	}
	return list, entries[number:], nil
}

// A cursor goes over terms in their order.
type cursor struct {
	list  *termList
	block int    // it is in
	left  int    // how many terms are still to come in the block
	rest  []byte // entries that are still to come
	term  []byte // it stands at
	same  int    // how many bytes of it those passed since the last look have left alone
	docs  List
}

// start stands before the first term.
func (c *cursor) start(l *termList) { c.goTo(l, 0, 0) }

// goTo stands before the first term of a block, which begins at at.
func (c *cursor) goTo(l *termList, block int, at uint64) {
	c.list, c.block, c.left, c.rest = l, block, termBlock, l.entries[at:]
	c.term, c.same, c.docs = c.term[:0], 0, List{}
}

// next goes on by a term; false if there is no other.
func (c *cursor) next() (bool, error) {
	if len(c.rest) == 0 {
		return false, nil
	}
	shared, text, rest, err := cutTerm(c.rest)
	if err != nil {
		return false, err
	}
	if shared > uint64(len(c.term)) {
		return false, errOutside
	}
	c.same = min(c.same, int(shared)+commonLen(c.term[shared:], text)) // a block does not say what it shares
	c.term = append(c.term[:shared], text...)
	if c.left == 0 {
		c.block, c.left = c.block+1, termBlock
	}
	c.left--
	c.docs, c.rest, err = c.list.cutList(rest)
	return err == nil, err
}

// leave goes to the first term that does not begin as this one does, with n bytes
// at least; false if there is none.
func (c *cursor) leave(n int) (bool, error) {
	begin := c.term[:n]
	if next := c.block + 1; next < c.list.blocks() {
		first, err := c.list.first(next)
		if err != nil {
			return false, err
		}
		if end := after(begin); end != nil && bytes.HasPrefix(first, begin) {
			return c.advance(end)
		}
	}
	for {
		more, err := c.next()
		if !more || c.same < n {
			return more, err
		}
	}
}

// seek goes to the first term that is not before another; false if there is
// none.
func (c *cursor) seek(l *termList, term []byte) (bool, error) {
	c.start(l)
	return c.advance(term)
}

// advance is seek from where the cursor is, which is before that term. It never
// goes back, so that it comes to an end in damaged bytes too.
func (c *cursor) advance(term []byte) (bool, error) {
	if c.list.blocks() == 0 {
		return false, nil
	}
	block, err := c.list.blockOf(term, c.block)
	if err != nil {
		return false, err
	}
	if block > c.block {
		at, err := c.list.place(block)
		if err != nil {
			return false, err
		}
		c.goTo(c.list, block, at)
	}
	for {
		more, err := c.next()
		if !more || bytes.Compare(c.term, term) >= 0 {
			return more, err
		}
	}
}

// get is the list of a term.
func (l *termList) get(term []byte) (list List, found bool, err error) {
	var c cursor
	found, err = c.seek(l, term)
	if found = found && bytes.Equal(c.term, term); !found {
		return List{}, false, err
	}
	return c.docs, true, nil
}

// A termWriter writes the terms of a field, which come in their order.
type termWriter struct {
	out    *output
	start  uint64
	terms  int
	last   []byte
	entry  []byte
	begins []byte
	places []byte
}

func newTermWriter(out *output) *termWriter { return &termWriter{out: out, start: out.len()} }

// add writes a term and its list, of which body is what its form says.
func (w *termWriter) add(term []byte, form, number uint64, body []byte) {
	shared := 0
	if w.terms%termBlock == 0 {
		w.begins = binary.BigEndian.AppendUint64(w.begins, startOf(term))
		w.places = binary.BigEndian.AppendUint64(w.places, w.out.len()-w.start)
	} else {
		shared = commonLen(w.last, term)
	}
	w.terms++
	w.entry = binary.AppendUvarint(w.entry[:0], uint64(shared))
	w.entry = binary.AppendUvarint(w.entry, uint64(len(term)-shared))
	w.entry = append(w.entry, term[shared:]...)
	w.entry = binary.AppendUvarint(w.entry, number<<formBits|form)
	w.out.bytes(w.entry)
	w.out.bytes(body)
	w.last = append(w.last[:0], term...)
}

func commonLen(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// end writes the columns, and returns where they are.
func (w *termWriter) end() (at uint64) {
	at = w.out.len()
	w.out.uvarint(at - w.start)
	w.out.uvarint(uint64(len(w.begins) / columnLen))
	w.out.bytes(w.begins)
	w.out.bytes(w.places)
	return at
}

// readTerms reads what a termWriter wrote whose end returned at.
func (s *Segment) readTerms(at uint64) (*termList, error) {
	size, n, err := s.uvarint(at)
	if err != nil {
		return nil, err
	}
	blocks, m, err := s.uvarint(at + n)
	if err != nil {
		return nil, err
	}
	if size > at || blocks > uint64(s.data.Len())/columnLen {
		return nil, errOutside
	}
	l := &termList{docs: s.docs}
	if l.entries, err = s.read(at-size, size); err != nil {
		return nil, err
	}
	if l.begins, err = s.read(at+n+m, blocks*columnLen); err != nil {
		return nil, err
	}
	if l.places, err = s.read(at+n+m+blocks*columnLen, blocks*columnLen); err != nil {
		return nil, err
	}
	if (size == 0) != (blocks == 0) {
		return nil, fmt.Errorf("%w: terms without a way to find them", ErrDamaged)
	}
	return l, nil
}
