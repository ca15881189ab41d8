package gitwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// uploadCaps is what ServeUpload can do. include-tag is offered because stock git would otherwise ask again for tags;
// a history without annotated tags has nothing to include.
var uploadCaps = Capabilities{
	"multi_ack", "multi_ack_detailed", "side-band-64k", "ofs-delta", "no-progress", "include-tag", "object-format=sha1", Agent,
}

// maxHaves bounds a negotiation. A client that has nothing in common with us names its whole history.
const maxHaves = 1 << 22

// An UploadBackend is the repository behind ServeUpload. A history.Graph supplies two of the methods.
type UploadBackend interface {
	// Refs returns the refs to show, by full name.
	Refs() (map[string]plumbing.Hash, error)
	// Head returns the full name of the ref that HEAD stands for, whether it exists or not.
	Head() (string, error)
	// Has reports whether the commit is in the history of the refs.
	Has(commit plumbing.Hash) bool
	// ReadyFor reports whether the haves are enough to know what the wants can leave out.
	ReadyFor(wants, haves []plumbing.Hash) bool
	// WritePack writes the pack of what the wants' history holds and that of the haves does not. It may use delta
	// bases by offset, and none that are not in the pack.
	WritePack(ctx context.Context, w io.Writer, wants, haves []plumbing.Hash) error
}

// A Capable backend has capabilities besides those of ServeUpload, to be shown to clients that know them.
type Capable interface{ Caps() Capabilities }

// ServeUpload is git-upload-pack: it shows the refs of b on rw and sends what the client asks for. A client that only
// lists refs is served without error, also if it leaves without a word: nothing was asked for that could fail. rw is
// closed if ctx ends, and otherwise left open.
// Errors: *ProtocolError, *UnsupportedError (both were told to the client), io.ErrUnexpectedEOF if the client vanished,
// ctx's, or those of b and rw.
func ServeUpload(ctx context.Context, rw io.ReadWriteCloser, b UploadBackend) error {
	defer closeAtEnd(ctx, rw)()
	u := &upload{b: b, rw: rw, in: newLines(rw), buffer: bufio.NewWriterSize(rw, maxBand), known: make(map[plumbing.Hash]bool)}
	u.out = pktline.NewEncoder(u.buffer)
	if err := u.serve(ctx); err != nil {
		return fmt.Errorf("serve fetch: %w", orCause(ctx, err))
	}
	return nil
}

// upload is one session.
type upload struct {
	b      UploadBackend
	rw     io.ReadWriter
	in     *lines
	buffer *bufio.Writer // in front of rw
	out    *pktline.Encoder

	caps  Capabilities
	wants []plumbing.Hash
	haves []plumbing.Hash        // those that we have, the newest last
	known map[plumbing.Hash]bool // the same as a set
	ready bool                   // the haves suffice
	asked int                    // for how many haves ready was asked
}

func (u *upload) serve(ctx context.Context) error {
	refs, err := u.b.Refs()
	if err != nil {
		return err
	}
	head, err := u.b.Head()
	if err != nil {
		return err
	}
	caps := uploadCaps
	if more, ok := u.b.(Capable); ok {
		caps = append(slices.Clip(caps), more.Caps()...)
	}
	if err := Advertise(u.buffer, refs, head, caps); err != nil {
		return err
	}
	if err := u.buffer.Flush(); err != nil {
		return err
	}
	if err := u.readWants(refs); err != nil {
		return u.refuse(err)
	}
	if len(u.wants) == 0 {
		return nil
	}
	if err := u.negotiate(); err != nil {
		return u.refuse(err)
	}
	return u.sendPack(ctx)
}

// refuse tells the client why the session ends, unless it is the client's doing that nobody listens.
func (u *upload) refuse(err error) error {
	_, isProtocol := errors.AsType[*ProtocolError](err)
	_, isUnsupported := errors.AsType[*UnsupportedError](err)
	if isProtocol || isUnsupported {
		return errors.Join(err, u.out.Encodef("ERR %s\n", err), u.buffer.Flush())
	}
	return err
}

// readWants reads up to the flush-pkt behind the wants.
func (u *upload) readWants(refs map[string]plumbing.Hash) error {
	shown := make(map[plumbing.Hash]bool, len(refs))
	for _, h := range refs {
		shown[h] = true
	}
	first, read := true, u.in.textOrEnd
	for range MaxRefs {
		line, flush, err := read()
		if first && err == io.EOF {
			return nil // as git's own server takes it: the client has seen the refs and needs nothing
		}
		if err != nil || flush {
			return err
		}
		read = u.in.text
		h, caps, err := parseWant(line)
		if err != nil {
			return err
		}
		if first {
			u.caps = ParseCapabilities(caps)
			if err := u.caps.checkFormat(); err != nil {
				return err
			}
			first = false
		}
		if wanted, ok := shown[h]; !ok {
			return &ProtocolError{"object " + h.String() + " was asked for and is not one of the refs shown"}
		} else if wanted {
			shown[h] = false // once is enough
			u.wants = append(u.wants, h)
		}
	}
	return &ProtocolError{"too many wants"}
}

func parseWant(line string) (h plumbing.Hash, caps string, err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "want":
		if h, caps, ok := cutHash(rest); ok {
			return h, caps, nil
		}
	case "shallow", "deepen", "deepen-since", "deepen-not":
		return h, "", &UnsupportedError{"a shallow clone or fetch (fetch the whole history instead)"}
	case "filter":
		return h, "", &UnsupportedError{"a partial clone (fetch without --filter instead)"}
	}
	return h, "", &ProtocolError{"a want was expected"}
}

// sendPack sends the pack, in a side-band if the client can.
func (u *upload) sendPack(ctx context.Context) error {
	if err := u.buffer.Flush(); err != nil {
		return err
	}
	if !u.caps.Has("side-band-64k") {
		if err := u.b.WritePack(ctx, u.buffer, u.wants, u.haves); err != nil {
			return err
		}
		return u.buffer.Flush()
	}
	bands := newMuxer(u.rw)
	pack := bufio.NewWriterSize(bands, maxBand)
	err := u.b.WritePack(ctx, pack, u.wants, u.haves)
	if err == nil {
		err = pack.Flush()
	}
	if err != nil {
		told := bands.send(sideband.ErrorMessage, []byte("the pack could not be made: nothing was changed, try again\n"))
		err = errors.Join(err, told)
	}
	return errors.Join(err, bands.end())
}
