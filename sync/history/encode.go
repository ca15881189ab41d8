package history

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrUnfit means that the history holds a commit that no commit-graph of this package can describe: a merge of more
// than two, or a time after the year 2514. Go on without one: it only saves time.
var ErrUnfit = errors.New("the history does not fit into a commit-graph")

// Encode writes the history of the tips in the form of git's commit-graph file. Errors: *UnknownError for a tip,
// ErrUnfit, or those of w.
func (g *Graph) Encode(w io.Writer, tips ...plumbing.Hash) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	heads, err := g.known(tips)
	if err != nil {
		return err
	}
	e, err := g.encoder(heads)
	if err != nil {
		return fmt.Errorf("write a commit-graph: %w", err)
	}
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	e.write(out) // a buffered writer keeps its first error and returns it from Flush
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write a commit-graph: %w", err)
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// An encoder knows the commits that are to be written.
type encoder struct {
	g      *Graph
	sorted []int32 // numbers, in the order of the ids
	place  []int32 // in that order, by number; only for those that are written
	level  []uint32
}

// encoder prepares the history of some commits. Called with mu held.
func (g *Graph) encoder(heads []int32) (*encoder, error) {
	e := &encoder{g: g, place: make([]int32, g.count), level: make([]uint32, g.count)}
	w := g.walk(0)
	for _, n := range heads {
		w.mark(n, left)
	}
	for n := range w.down() {
		w.pass(n, left)
		e.sorted = append(e.sorted, n)
	}
	for _, n := range slices.Backward(e.sorted) {
		if err := e.measure(n); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(e.sorted, func(a, b int32) int {
		x, y := g.hash(a), g.hash(b)
		return bytes.Compare(x[:], y[:])
	})
	for i, n := range e.sorted {
		e.place[n] = int32(i)
	}
	return e, nil
}

// measure computes the generation of n, whose parents have theirs.
func (e *encoder) measure(n int32) error {
	var room [2]int32
	parents := e.g.parents(n, room[:0])
	if s := e.g.seconds(n); len(parents) > 2 || s < 0 || s > maxSeconds {
		return ErrUnfit
	}
	for _, p := range parents {
		e.level[n] = max(e.level[n], e.level[p])
	}
	e.level[n]++
	return nil
}

func (e *encoder) write(w *bufio.Writer) {
	n := uint64(len(e.sorted))
	w.WriteString(fileMagic + "\x03\x00") // three chunks, no other file below
	at := uint64(fileHeader + 4*chunkEntry)
	for _, c := range []struct {
		name string
		size uint64
	}{
		{chunkFanout, fanoutSize}, {chunkIDs, n * uint64(hashSize)}, {chunkData, n * uint64(recordSize)}, {"\x00\x00\x00\x00", 0},
	} {
		w.WriteString(c.name)
		w.Write(binary.BigEndian.AppendUint64(w.AvailableBuffer(), at))
		at += c.size
	}
	e.writeIDs(w)
	for _, n := range e.sorted {
		e.writeRecord(w, n)
	}
}

func (e *encoder) writeIDs(w *bufio.Writer) {
	var upTo [256]uint32
	for _, n := range e.sorted {
		upTo[e.g.hash(n)[0]]++
	}
	total := uint32(0)
	for _, count := range upTo {
		total += count
		writeUint32(w, total)
	}
	for _, n := range e.sorted {
		h := e.g.hash(n)
		w.Write(h[:])
	}
}

func (e *encoder) writeRecord(w *bufio.Writer, n int32) {
	tree := e.g.tree(n)
	w.Write(tree[:])
	var room [2]int32
	parents := e.g.parents(n, room[:0])
	for i := range 2 {
		if i < len(parents) {
			writeUint32(w, uint32(e.place[parents[i]]))
		} else {
			writeUint32(w, noParent)
		}
	}
	seconds := e.g.seconds(n)
	writeUint32(w, e.level[n]<<2|uint32(seconds>>32))
	writeUint32(w, uint32(seconds))
}

func writeUint32(w *bufio.Writer, v uint32) {
	w.Write(binary.BigEndian.AppendUint32(w.AvailableBuffer(), v))
}
