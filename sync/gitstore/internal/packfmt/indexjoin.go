package packfmt

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrTwice means that an object is in more than one of the packs that were to be joined as they are. Leave one out.
var ErrTwice = errors.New("an object is in two packs")

// An IndexPart is the index of a pack whose body stands in another pack now, Shift bytes further back.
type IndexPart struct {
	Index *Index
	Shift int64
}

// maxParts is how many parts there may be: a byte says which one an object is of.
const maxParts = 256

// JoinIndexes writes the index of the pack with the given checksum, which the packs of parts make up. It reads the parts
// from front to back and keeps one byte for each object. Offsets must fit into 31 bits. Errors: ErrTwice, ErrMalformed.
func JoinIndexes(w io.Writer, parts []IndexPart, pack plumbing.Hash) error {
	if len(parts) > maxParts {
		return fmt.Errorf("join %d pack indexes: at most %d can be joined", len(parts), maxParts)
	}
	sum := sha1.New()
	out := bufio.NewWriterSize(w, 1<<16)
	// A buffered writer keeps its first error and returns it from Flush.
	both := bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<12)
	both.Write(indexMagic)
	var fanout [256]uint32
	for _, p := range parts {
		for i, n := range p.Index.fanout {
			fanout[i] += n
		}
	}
	for _, n := range fanout {
		writeUint32(both, n)
	}
	from, err := joinHashes(both, parts, int(fanout[255]))
	if err != nil {
		return err
	}
	if err := joinCRCs(both, parts, from); err != nil {
		return err
	}
	if err := joinOffsets(both, parts, from); err != nil {
		return err
	}
	both.Write(pack[:])
	if err := both.Flush(); err != nil {
		return err
	}
	out.Write(sum.Sum(nil))
	return out.Flush()
}

// joinHashes writes all ids in order and returns which part each is of.
func joinHashes(w *bufio.Writer, parts []IndexPart, count int) (from []byte, err error) {
	columns := make([]*column, len(parts))
	for i, p := range parts {
		columns[i] = p.Index.column(0, 20)
		if err := columns[i].next(); err != nil {
			return nil, err
		}
	}
	from = make([]byte, 0, count)
	var last [20]byte
	for range count {
		least := -1
		for i, c := range columns {
			if !c.ended && (least < 0 || bytes.Compare(c.value, columns[least].value) < 0) {
				least = i
			}
		}
		c := columns[least]
		if order := bytes.Compare(c.value, last[:]); len(from) > 0 && order == 0 {
			return nil, ErrTwice
		} else if len(from) > 0 && order < 0 {
			return nil, fmt.Errorf("%w pack index: its ids are out of order", ErrMalformed)
		}
		copy(last[:], c.value)
		w.Write(c.value)
		from = append(from, byte(least))
		if err := c.next(); err != nil {
			return nil, err
		}
	}
	return from, nil
}

func joinCRCs(w *bufio.Writer, parts []IndexPart, from []byte) error {
	return joinColumn(parts, from, 20, func(_ int, crc uint32) error {
		writeUint32(w, crc)
		return nil
	})
}

func joinOffsets(w *bufio.Writer, parts []IndexPart, from []byte) error {
	return joinColumn(parts, from, 24, func(part int, offset uint32) error {
		shifted := int64(offset) + parts[part].Shift
		if offset >= farOffset || shifted >= farOffset {
			return fmt.Errorf("join pack indexes: an offset does not fit")
		}
		writeUint32(w, uint32(shifted))
		return nil
	})
}

// joinColumn calls fn with the four bytes of each object in a column, in the order of ids.
func joinColumn(parts []IndexPart, from []byte, at int, fn func(part int, value uint32) error) error {
	columns := make([]*column, len(parts))
	for i, p := range parts {
		columns[i] = p.Index.column(at, 4)
	}
	for _, part := range from {
		c := columns[part]
		if err := c.next(); err != nil {
			return err
		}
		if err := fn(int(part), binary.BigEndian.Uint32(c.value)); err != nil {
			return err
		}
	}
	return nil
}

// A column reads one of the tables of an index from front to back.
type column struct {
	r     *bufio.Reader
	value []byte // of the present row
	left  int
	ended bool
}

// column returns the table that begins at so many bytes for each object, with rows of size bytes.
func (x *Index) column(at, size int) *column {
	n := int64(x.Count())
	section := io.NewSectionReader(x.r, hashesAt+n*int64(at), n*int64(size))
	return &column{r: bufio.NewReaderSize(section, 16<<10), value: make([]byte, size), left: x.Count()}
}

func (c *column) next() error {
	if c.ended = c.left == 0; c.ended {
		return nil
	}
	c.left--
	_, err := io.ReadFull(c.r, c.value)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%w pack index: it ends too early", ErrMalformed)
	}
	return err
}

// Hashes calls fn with the id of each object, in order.
func (x *Index) Hashes(fn func(plumbing.Hash)) error {
	ids := x.column(0, len(plumbing.Hash{}))
	for {
		if err := ids.next(); err != nil || ids.ended {
			return err
		}
		fn(plumbing.Hash(ids.value))
	}
}
