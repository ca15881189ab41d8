package gitwire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// MaxHaves is how many haves a fetch names; the rest is left off. The server answers them all at once, so they should
// be few and far apart: history.Graph.Sample finds such commits.
const MaxHaves = 256

// A FetchRequest says what to fetch.
type FetchRequest struct {
	Wants []plumbing.Hash // ids out of the advert, at least one
	Haves []plumbing.Hash // commits whose whole history is here, the likeliest first
	Thin  bool            // the pack may use delta bases that are here and not in the pack
	// Messages gets each line that the server says while the pack is read; nil asks for quiet.
	Messages func(line string)
}

// Fetch asks the server behind rw, whose advert was read, for a pack and returns it as a stream that ends with the pack.
// The stream's errors are *RemoteError, *ProtocolError and io.ErrUnexpectedEOF if the server vanished; those of Fetch as
// well. A stream with a CloseWrite method is told so when the request is complete. rw is closed if ctx ends before the stream does, and otherwise left open.
func Fetch(ctx context.Context, rw io.ReadWriteCloser, ad *Advert, req FetchRequest) (io.Reader, error) {
	stop := closeAtEnd(ctx, rw)
	caps := ad.Caps.only("multi_ack_detailed", "side-band-64k", "ofs-delta")
	if req.Thin {
		caps = append(caps, ad.Caps.only("thin-pack")...)
	}
	if req.Messages == nil {
		caps = append(caps, ad.Caps.only("no-progress")...)
	}
	in := newLines(rw)
	err := ask(rw, append(caps, Agent), req)
	if err == nil {
		err = readAcks(in)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("fetch: %w", orCause(ctx, err))
	}
	pack := &packReader{ctx: ctx, stop: stop, r: rw}
	if caps.Has("side-band-64k") {
		pack.r = &demuxer{in: in, messages: splitter{line: req.Messages}}
	}
	return pack, nil
}

// ask sends the whole request in one go. No flush-pkt stands between haves and done, so the server answers once.
func ask(w io.Writer, caps Capabilities, req FetchRequest) error {
	if len(req.Wants) == 0 {
		return &ProtocolError{"nothing is wanted"}
	}
	var b bytes.Buffer
	out := pktline.NewEncoder(&b)
	suffix := " " + caps.String()
	for _, h := range req.Wants {
		if err := out.Encodef("want %s%s\n", h, suffix); err != nil {
			return err
		}
		suffix = ""
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for _, h := range req.Haves[:min(len(req.Haves), MaxHaves)] {
		if err := out.Encodef("have %s\n", h); err != nil {
			return err
		}
	}
	if err := out.EncodeString("done\n"); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return closeWrite(w)
}

// readAcks reads the answer to the haves. Its last line is NAK, or an ACK without a status.
func readAcks(in *lines) error {
	for range 2 * MaxHaves {
		line, flush, err := in.text()
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(line, " ")
		_, status, isHash := cutHash(rest)
		switch {
		case line == "NAK" || word == "ACK" && isHash && status == "":
			return nil
		case flush || word != "ACK" || !isHash:
			return &ProtocolError{"an answer to the haves was expected"}
		}
	}
	return &ProtocolError{"too many answers to the haves"}
}

// packReader is the stream of a fetch, under its context.
type packReader struct {
	ctx  context.Context
	stop func() bool
	r    io.Reader
}

func (p *packReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil {
		p.stop()
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("fetch: %w", orCause(p.ctx, err))
	}
	return n, err
}
