package gitstore

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// A packReader reads a pack from a stream and keeps a copy. It is an io.ByteReader, so that the decompressor takes no more
// than it needs, and never asks the stream for bytes that may not belong to the pack.
type packReader struct {
	src    io.Reader
	dst    *bufio.Writer
	lim    Limits
	sum    plumbing.Hash // of the pack, once it is complete
	offset int64         // in the pack, of what has been taken out of buf

	digest   hash.Hash
	crc      uint32
	buf      []byte // buf[pos:] has been read from src and not been taken yet
	pos      int
	settled  int // buf[:settled] has been hashed and copied
	entries  int64
	fetched  int64
	inflated int64
	failure  error // of src, dst or a limit: not the pack's fault
}

// minEntry is the least that an entry can take: one byte of header and the zlib stream of nothing.
const minEntry = 9

func newPackReader(src io.Reader, dst io.Writer, lim Limits) *packReader {
	return &packReader{
		src: src, dst: bufio.NewWriterSize(dst, 64<<10), lim: lim,
		digest: sha1.New(), buf: make([]byte, 0, 32<<10),
	}
}

// fetch reads more from src: as much as is certain to be still part of the pack, given how many entries are to come.
func (r *packReader) fetch(sure int64) error {
	if r.failure != nil {
		return r.failure
	}
	if err := r.settle(); err != nil {
		return err
	}
	n, err := io.ReadAtLeast(r.src, r.buf[:min(sure, int64(cap(r.buf)))], 1)
	r.buf, r.pos, r.settled = r.buf[:n], 0, 0
	r.fetched += int64(n)
	switch {
	case n == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	case n == 0:
		return r.fail(fmt.Errorf("read the pack: %w", err))
	case r.fetched > r.lim.Bytes:
		return r.fail(&LimitError{What: "it is too long", Limit: r.lim.Bytes})
	}
	return nil
}

func (r *packReader) fail(err error) error {
	r.failure = err
	return err
}

// settle hashes and copies what has been taken.
func (r *packReader) settle() error {
	taken := r.buf[r.settled:r.pos]
	r.settled = r.pos
	r.digest.Write(taken)
	r.crc = crc32.Update(r.crc, crc32.IEEETable, taken)
	if _, err := r.dst.Write(taken); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *packReader) sure() int64 { return packfmt.TrailerSize + r.entries*minEntry }

func (r *packReader) ReadByte() (byte, error) {
	if r.pos == len(r.buf) {
		if err := r.fetch(r.sure()); err != nil {
			return 0, err
		}
	}
	r.pos++
	r.offset++
	return r.buf[r.pos-1], nil
}

func (r *packReader) Read(b []byte) (int, error) {
	if r.pos == len(r.buf) {
		if err := r.fetch(r.sure()); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.buf[r.pos:])
	r.pos += n
	r.offset += int64(n)
	return n, nil
}

// blame makes err the pack's fault if it is nobody else's.
func (r *packReader) blame(err error) error {
	if r.failure != nil {
		return r.failure
	}
	return blamePack(err, r.offset)
}

// blamePack makes a BadPackError of an error that speaks of the bytes of a pack.
func blamePack(err error, offset int64) error {
	_, limit := errors.AsType[*LimitError](err)
	_, bad := errors.AsType[*BadPackError](err)
	if limit || bad || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &BadPackError{Offset: offset, Err: err}
}

// readPack reads the pack to its end. Whole objects have their ids then, deltas do not.
func (r *packReader) readPack(ctx context.Context) (*arrivals, error) {
	var head [packfmt.FileHeaderSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	count, err := packfmt.ParseFileHeader(head[:])
	if err != nil {
		return nil, err
	}
	if err := r.lim.checkCount(count); err != nil {
		return nil, err
	}
	table := newArrivals(int(count))
	for r.entries = int64(count); r.entries > 0; {
		r.entries--
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.readEntry(table); err != nil {
			return nil, err
		}
	}
	return table, r.readTrailer()
}

func (r *packReader) readEntry(table *arrivals) error {
	if err := r.settle(); err != nil {
		return err
	}
	at := r.offset
	r.crc = 0
	h, err := packfmt.ReadHeader(r)
	if err != nil {
		return err
	}
	if err := r.lim.checkSize(h.Size); err != nil {
		return err
	}
	data, err := packfmt.Inflate(r, h.Size)
	if err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.account(h, data); err != nil {
		return err
	}
	return table.add(at, r.crc, h, data)
}

// account holds the object that an entry makes against the limits, before it is made.
func (r *packReader) account(h packfmt.Header, data []byte) error {
	size := h.Size
	if h.Type.IsDelta() {
		var err error
		if _, size, err = packfmt.DeltaSizes(data); err != nil {
			return err
		}
		if err := r.lim.checkSize(size); err != nil {
			return err
		}
	}
	r.inflated += size
	return r.lim.checkInflated(r.inflated)
}

func (r *packReader) readTrailer() error {
	if err := r.settle(); err != nil {
		return err
	}
	r.digest.Sum(r.sum[:0])
	var trailer plumbing.Hash
	for n := 0; n < len(trailer); {
		if r.pos == len(r.buf) {
			if err := r.fetch(int64(len(trailer) - n)); err != nil {
				return err
			}
		}
		k := copy(trailer[n:], r.buf[r.pos:])
		n += k
		r.pos += k
		r.offset += int64(k)
	}
	if trailer != r.sum {
		return fmt.Errorf("%w pack: its checksum is wrong", packfmt.ErrMalformed)
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.dst.Flush(); err != nil {
		return r.fail(err)
	}
	return nil
}
