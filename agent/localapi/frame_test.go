package localapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

func TestFramesComeBackInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "items")
		var wire bytes.Buffer
		for _, b := range items {
			if err := writeFrame(&wire, frameItem, b); err != nil {
				t.Fatal(err)
			}
		}
		cut := rapid.IntRange(0, wire.Len()).Draw(t, "cut")
		whole, left := wire.Bytes(), len(wire.Bytes())
		for _, want := range items {
			if left -= frameHead + len(want); left < 0 {
				break
			}
			kind, got, err := readFrame(&wire)
			if err != nil || kind != frameItem || !bytes.Equal(got, want) {
				t.Fatalf("read %q %q, %v, want %q", kind, got, err, want)
			}
		}
		if err := readAllFrames(whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("a stream without an end: %v", err)
		}
	})
}

// readAllFrames reads until something stops it.
func readAllFrames(b []byte) error {
	r := bytes.NewReader(b)
	for {
		if kind, _, err := readFrame(r); err != nil || kind == frameEnd {
			return err
		}
	}
}

func TestADamagedStreamIsNotRead(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"no such kind":     {'x', 0, 0, 0, 0},
		"a length too far": {frameItem, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, ok := errors.AsType[*frameError](readAllFrames(b)); !ok {
			t.Errorf("%s: read", name)
		}
	}
	if err := writeFrame(io.Discard, frameItem, make([]byte, maxBody+1)); err == nil {
		t.Error("a frame over the limit was written")
	}
}

func FuzzReadDrafts(f *testing.F) {
	var good bytes.Buffer
	stream := draftStream{}
	if err := stream.write(&good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte("i\x00\x00\x00\x02{}e\x00\x00\x00\x00"))
	f.Add([]byte("i\x00\x00\x00\x13{\"kind\":\"observe\" }e\x00\x00\x00\x00"))
	f.Add([]byte("i\x00\xff\xff\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		drafts, err := readDrafts(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		if len(drafts) > len(b)/frameHead {
			t.Fatalf("%d drafts from %d bytes", len(drafts), len(b))
		}
		again := draftStream{drafts: drafts}
		if err := again.write(io.Discard); err != nil || len(again.refused) > 0 {
			t.Fatalf("what was read cannot be sent: %v, %v", err, again.refused)
		}
	})
}
