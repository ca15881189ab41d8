package segfile

import (
	"bytes"
	"hash/maphash"
)

// A table numbers texts as they come, from 0. It takes a few bytes for each
// besides the text, and hardly any work of the garbage collector.
type table struct {
	seed   maphash.Seed
	slots  []uint32 // a number and one, or 0; as many as a power of two
	hashes []uint32 // by number
	ends   []int    // in text, by number
	text   []byte
}

// minSlots is how many slots a table begins with.
const minSlots = 1 << 8

func newTable() table { return table{seed: maphash.MakeSeed(), slots: make([]uint32, minSlots)} }

// reset forgets all texts, and keeps the room.
func (t *table) reset() {
	clear(t.slots)
	t.hashes, t.ends, t.text = t.hashes[:0], t.ends[:0], t.text[:0]
}

// len is how many texts there are.
func (t *table) len() int { return len(t.ends) }

// at is the text with a number. It must not be changed, and is valid until the
// next one is numbered.
func (t *table) at(number uint32) []byte {
	start := 0
	if number > 0 {
		start = t.ends[number-1]
	}
	return t.text[start:t.ends[number]]
}

// number is that of a text, and whether it is new.
func (t *table) number(text []byte) (number uint32, isNew bool) {
	hash := uint32(maphash.Bytes(t.seed, text))
	slot := t.slotOf(hash)
	for ; t.slots[slot] != 0; slot = t.after(slot) {
		if n := t.slots[slot] - 1; t.hashes[n] == hash && bytes.Equal(t.at(n), text) {
			return n, false
		}
	}
	n := uint32(t.len())
	t.slots[slot] = n + 1
	t.text = append(t.text, text...)
	t.ends = append(t.ends, len(t.text))
	t.hashes = append(t.hashes, hash)
	if 2*t.len() > len(t.slots) {
		t.grow()
	}
	return n, true
}

func (t *table) slotOf(hash uint32) uint32 { return hash & uint32(len(t.slots)-1) }
func (t *table) after(slot uint32) uint32  { return (slot + 1) & uint32(len(t.slots)-1) }

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for n, hash := range t.hashes {
		slot := t.slotOf(hash)
		for t.slots[slot] != 0 {
			slot = t.after(slot)
		}
		t.slots[slot] = uint32(n) + 1
	}
}
