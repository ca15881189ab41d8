package segfile

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// An output is a file that is being written, in memory or through it.
type output struct {
	w   io.Writer // nil keeps all in memory
	buf []byte    // what has not been passed on
	err error     // of w

	passed uint64 // bytes
	sum    uint32 // of those
}

// spillSize is how much an output holds back.
const spillSize = 256 << 10

// len is how long the file is so far.
func (o *output) len() uint64 { return o.passed + uint64(len(o.buf)) }

// checksum is that of the file so far.
func (o *output) checksum() uint32 { return crc32.Update(o.sum, crc32.IEEETable, o.buf) }

func (o *output) uvarint(n uint64) { o.buf = binary.AppendUvarint(o.buf, n) }

func (o *output) uint64(n uint64) { o.buf = binary.BigEndian.AppendUint64(o.buf, n) }

func (o *output) uint32(n uint32) { o.buf = binary.BigEndian.AppendUint32(o.buf, n) }

func (o *output) bytes(b []byte) {
	o.buf = append(o.buf, b...)
	if len(o.buf) >= spillSize {
		o.flush()
	}
}

// flush passes on what was held back. Its error stays.
func (o *output) flush() {
	if o.w == nil || o.err != nil {
		return
	}
	o.sum = o.checksum()
	_, o.err = o.w.Write(o.buf)
	o.passed += uint64(len(o.buf))
	o.buf = o.buf[:0]
}
