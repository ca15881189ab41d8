package packfmt

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Writer writes one pack. It is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	sum     hash.Hash
	level   int
	left    uint32
	offset  int64
	crc     uint32
	entries []IndexEntry
	scratch []byte
}

// NewWriter starts a pack of exactly count entries on w, compressed at the given zlib level (0 to 9).
func NewWriter(w io.Writer, count uint32, level int) (*Writer, error) {
	if level < 0 || level > 9 {
		return nil, fmt.Errorf("zlib level %d is not between 0 and 9", level)
	}
	p := &Writer{w: w, sum: sha1.New(), level: level, left: count}
	if _, err := p.Write(AppendFileHeader(nil, count)); err != nil {
		return nil, err
	}
	return p, nil
}

// SetLevel changes the zlib level for what is added from now on.
func (p *Writer) SetLevel(level int) { p.level = level }

// Write adds bytes to the pack as they are; it is there for the compressor.
func (p *Writer) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.sum.Write(b[:n])
	p.crc = crc32.Update(p.crc, crc32.IEEETable, b[:n])
	p.offset += int64(n)
	return n, err
}

// Offset returns where the next entry will start.
func (p *Writer) Offset() int64 { return p.offset }

// Object adds a whole object.
func (p *Writer) Object(id plumbing.Hash, t plumbing.ObjectType, data []byte) error {
	return p.entry(id, Header{Type: t, Size: int64(len(data))}, func() error {
		return deflate(p, p.level, data)
	})
}

// Delta adds an object as a delta of the one that was written at base.
func (p *Writer) Delta(id plumbing.Hash, base int64, delta []byte) error {
	h := Header{Type: plumbing.OFSDeltaObject, Size: int64(len(delta)), Distance: p.offset - base}
	return p.entry(id, h, func() error {
		return deflate(p, p.level, delta)
	})
}

// Raw adds an entry whose compressed stream is copied from elsewhere. An OFSDeltaObject's Distance counts from Offset.
func (p *Writer) Raw(id plumbing.Hash, h Header, stream io.Reader) error {
	return p.entry(id, h, func() error {
		_, err := io.Copy(p, stream)
		return err
	})
}

func (p *Writer) entry(id plumbing.Hash, h Header, body func() error) error {
	if p.left == 0 {
		return fmt.Errorf("pack has more entries than it announces")
	}
	p.left--
	at := p.offset
	p.crc = 0
	p.scratch = AppendHeader(p.scratch[:0], h)
	if _, err := p.Write(p.scratch); err != nil {
		return err
	}
	if err := body(); err != nil {
		return err
	}
	p.entries = append(p.entries, IndexEntry{Hash: id, Offset: at, CRC: p.crc})
	return nil
}

// Finish writes the trailer and returns the pack's checksum and what its index must hold. It does not close the
// underlying writer.
func (p *Writer) Finish() (plumbing.Hash, []IndexEntry, error) {
	if p.left > 0 {
		return plumbing.Hash{}, nil, fmt.Errorf("pack lacks %d of the entries it announces", p.left)
	}
	var sum plumbing.Hash
	p.sum.Sum(sum[:0])
	if _, err := p.w.Write(sum[:]); err != nil {
		return plumbing.Hash{}, nil, err
	}
	p.offset += TrailerSize
	return sum, p.entries, nil
}
