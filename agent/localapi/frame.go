package localapi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A stream is a row of frames: one byte that says what the frame is, four
// bytes with the length of the rest, most significant first, and the rest. It
// ends with a frame of kind frameEnd or frameProblem; one that stops before
// was cut off.
const (
	frameItem    = 'i'
	frameProblem = 'p' // a failure in JSON
	frameEnd     = 'e'
)

const frameHead = 5

// A frameError reports a stream that is not made of frames.
type frameError struct{ reason string }

func (e *frameError) Error() string { return "the stream is damaged: " + e.reason }

func writeFrame(w io.Writer, kind byte, b []byte) error {
	if len(b) > maxBody {
		return fmt.Errorf("send an item of %d bytes: the limit is %d", len(b), maxBody)
	}
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(b)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// readFrame returns io.ErrUnexpectedEOF for a stream that was cut off, at
// whatever place, and *frameError for one that is not made of frames.
func readFrame(r io.Reader) (kind byte, b []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, cutOff(err)
	}
	kind, size := head[0], binary.BigEndian.Uint32(head[1:])
	if kind != frameItem && kind != frameProblem && kind != frameEnd {
		return 0, nil, &frameError{"there is no such kind of frame"}
	}
	if size > maxBody {
		return 0, nil, &frameError{fmt.Sprintf("a frame of %d bytes is over the limit of %d", size, maxBody)}
	}
	// The length is only a claim: memory is taken as the bytes arrive.
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, r, int64(size)); err != nil {
		return 0, nil, cutOff(err)
	}
	return kind, buf.Bytes(), nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
