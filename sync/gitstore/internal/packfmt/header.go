package packfmt

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// FileHeaderSize is the length of what stands before the first entry of a pack.
	FileHeaderSize = 12
	// TrailerSize is the length of the checksum at the end of a pack, and of an index.
	TrailerSize = 20
	// MaxHeaderSize is more than the longest header of an entry.
	MaxHeaderSize = 32
)

// AppendFileHeader appends the header of a pack of count entries.
func AppendFileHeader(b []byte, count uint32) []byte {
	b = append(b, "PACK\x00\x00\x00\x02"...)
	return binary.BigEndian.AppendUint32(b, count)
}

// ParseFileHeader returns the number of entries that the header of a pack announces.
func ParseFileHeader(b []byte) (uint32, error) {
	if len(b) < FileHeaderSize || string(b[:4]) != "PACK" {
		return 0, fmt.Errorf("%w pack: no pack signature", ErrMalformed)
	}
	if v := binary.BigEndian.Uint32(b[4:]); v != 2 {
		return 0, fmt.Errorf("%w pack: version %d, want 2", ErrMalformed, v)
	}
	return binary.BigEndian.Uint32(b[8:]), nil
}

// A Header describes one entry of a pack. The entry's zlib stream follows it.
type Header struct {
	Type     plumbing.ObjectType // also OFSDeltaObject and REFDeltaObject
	Size     int64               // of the inflated stream: the object, or the delta
	Distance int64               // OFSDeltaObject: how far before this entry the base starts
	Base     plumbing.Hash       // REFDeltaObject: the base's id
	Length   int                 // of the encoded header
}

// ParseHeader decodes the header at the start of b. If b ends within it the error is io.ErrUnexpectedEOF.
func ParseHeader(b []byte) (Header, error) {
	r := sliceReader{b: b}
	h, err := ReadHeader(&r)
	return h, err
}

type sliceReader struct {
	b []byte
	n int
}

func (r *sliceReader) ReadByte() (byte, error) {
	if r.n >= len(r.b) {
		return 0, io.ErrUnexpectedEOF
	}
	r.n++
	return r.b[r.n-1], nil
}

// ReadHeader decodes a header from r and takes not one byte more.
func ReadHeader(r io.ByteReader) (Header, error) {
	var h Header
	if err := h.readTypeAndSize(r); err != nil {
		return Header{}, err
	}
	var err error
	switch h.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		err = h.readDistance(r)
	case plumbing.REFDeltaObject:
		err = h.readBase(r)
	default:
		err = fmt.Errorf("%w pack entry: type %d", ErrMalformed, h.Type)
	}
	if err != nil {
		return Header{}, err
	}
	return h, nil
}

func (h *Header) readTypeAndSize(r io.ByteReader) error {
	c, err := h.readByte(r)
	if err != nil {
		return err
	}
	h.Type = plumbing.ObjectType(c >> 4 & 7)
	h.Size = int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if shift > 53 {
			return fmt.Errorf("%w pack entry: its size is beyond all bounds", ErrMalformed)
		}
		if c, err = h.readByte(r); err != nil {
			return err
		}
		h.Size |= int64(c&0x7f) << shift
	}
	return nil
}

func (h *Header) readDistance(r io.ByteReader) error {
	c, err := h.readByte(r)
	if err != nil {
		return err
	}
	h.Distance = int64(c & 0x7f)
	for c&0x80 != 0 {
		if h.Distance > 1<<53 {
			return fmt.Errorf("%w pack entry: its delta base is beyond all bounds", ErrMalformed)
		}
		if c, err = h.readByte(r); err != nil {
			return err
		}
		h.Distance = (h.Distance+1)<<7 | int64(c&0x7f)
	}
	if h.Distance == 0 {
		return fmt.Errorf("%w pack entry: it is its own delta base", ErrMalformed)
	}
	return nil
}

func (h *Header) readBase(r io.ByteReader) error {
	for i := range h.Base {
		c, err := h.readByte(r)
		if err != nil {
			return err
		}
		h.Base[i] = c
	}
	return nil
}

func (h *Header) readByte(r io.ByteReader) (byte, error) {
	c, err := r.ReadByte()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		h.Length++
	}
	return c, err
}

// AppendHeader appends the header that ReadHeader decodes to h; h.Length is not looked at.
func AppendHeader(b []byte, h Header) []byte {
	c := byte(h.Type)<<4 | byte(h.Size&15)
	for rest := h.Size >> 4; rest > 0; rest >>= 7 {
		b = append(b, c|0x80)
		c = byte(rest & 0x7f)
	}
	b = append(b, c)
	switch h.Type {
	case plumbing.OFSDeltaObject:
		return appendDistance(b, h.Distance)
	case plumbing.REFDeltaObject:
		return append(b, h.Base[:]...)
	}
	return b
}

func appendDistance(b []byte, d int64) []byte {
	var digits [10]byte
	i := len(digits) - 1
	digits[i] = byte(d & 0x7f)
	for d >>= 7; d > 0; d >>= 7 {
		d--
		i--
		digits[i] = 0x80 | byte(d&0x7f)
	}
	return append(b, digits[i:]...)
}
