package packfmt

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib" // for small objects two to three times as quick as the standard library's
)

// A ByteReader gives its bytes one by one, so that a decompressor need not take more than it uses.
type ByteReader interface {
	io.Reader
	io.ByteReader
}

var inflaters sync.Pool

// trusted is how much is allocated on the word of a header alone.
const trusted = 1 << 20

// Inflate reads one zlib stream from r, exactly to its end, and returns its contents, which must have the given size.
// The memory it takes is bounded by size and, but for the first megabyte, by what really arrives.
func Inflate(r ByteReader, size int64) ([]byte, error) {
	z, err := newInflater(r)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", unexpected(err))
	}
	data, err := readSized(z, size)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", unexpected(err))
	}
	inflaters.Put(z)
	return data, nil
}

// StreamBound is more than a zlib stream of size bytes takes, unless whoever wrote it wasted room: then it is cut short there.
func StreamBound(size int64) int64 { return size + size/64 + 64 }

// InflatePrefix returns the first n bytes of the zlib stream in r, or all if there are fewer.
func InflatePrefix(r ByteReader, n int) ([]byte, error) {
	z, err := newInflater(r)
	if err != nil {
		return nil, fmt.Errorf("inflate: %w", unexpected(err))
	}
	data := make([]byte, n)
	got, err := io.ReadFull(z, data)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	inflaters.Put(z)
	return data[:got], nil
}

func newInflater(r io.Reader) (io.ReadCloser, error) {
	z, ok := inflaters.Get().(io.ReadCloser)
	if !ok {
		return zlib.NewReader(r)
	}
	return z, z.(zlib.Resetter).Reset(r, nil)
}

func readSized(z io.Reader, size int64) ([]byte, error) {
	data, err := readClaimed(z, size)
	if err != nil {
		return nil, err
	}
	// The checksum behind the data is read and verified only on the way to the end of the stream.
	var extra [1]byte
	switch n, err := io.ReadFull(z, extra[:]); {
	case n != 0:
		return nil, fmt.Errorf("%w: longer than the %d bytes it claims", ErrMalformed, size)
	case err != io.EOF:
		return nil, err
	}
	return data, nil
}

func readClaimed(z io.Reader, size int64) ([]byte, error) {
	if size <= trusted {
		data := make([]byte, size)
		_, err := io.ReadFull(z, data)
		return data, err
	}
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, z, size)
	if err == io.EOF {
		err = fmt.Errorf("%w: %d bytes of the %d it claims", ErrMalformed, n, size)
	}
	return buf.Bytes(), err
}

// unexpected makes an end of input inside a stream the error that it is.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// IsQuick reports whether a zlib stream says of itself that it was compressed fast rather than well (RFC 1950, FLEVEL).
func IsQuick(stream []byte) bool { return len(stream) > 1 && stream[1]>>6 < 2 }

// deflaters holds a pool of writers for each level from zlib.HuffmanOnly (-2) to zlib.BestCompression (9).
var deflaters [12]sync.Pool

// deflate writes data to w as one zlib stream.
func deflate(w io.Writer, level int, data []byte) error {
	pool := &deflaters[level-zlib.HuffmanOnly]
	z, ok := pool.Get().(*zlib.Writer)
	if ok {
		z.Reset(w)
	} else {
		var err error
		if z, err = zlib.NewWriterLevel(w, level); err != nil {
			return err
		}
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	pool.Put(z)
	return nil
}
