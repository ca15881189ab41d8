package gitwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// MaxMessages is how many lines of the remote a RejectedError holds.
const MaxMessages = 200

// PushOptions says what goes along with a push.
type PushOptions struct {
	// Options are sent in their order, as with git push -o. A server that takes none makes the push fail.
	Options []string
	// WritePack writes the pack of what New holds and the remote lacks. It is called once, in another goroutine,
	// unless the command deletes.
	WritePack func(io.Writer) error
	// Messages gets each line that the server says; it may be nil.
	Messages func(line string)
}

// A PushResult says what the remote did.
type PushResult struct {
	// Landed is the ref that was updated: as commanded, or elsewhere if the remote says so. If the remote made a commit
	// of its own out of the push, it shows as commanded, and only a fetch tells more.
	Landed Command
}

// Push asks the server behind rw, whose advert was read, to set one ref. The answer is read while the pack is written:
// a server that refuses at once is heard. The session is over afterwards; rw may be closed already, and is if ctx ends.
// Errors: *RejectedError, *RemoteError, *UnsupportedError, *ProtocolError, io.ErrUnexpectedEOF if the server vanished
// (then it is not known what it did), ctx's, or those of WritePack and rw.
func Push(ctx context.Context, rw io.ReadWriteCloser, ad *Advert, cmd Command, o PushOptions) (PushResult, error) {
	defer closeAtEnd(ctx, rw)()
	caps, err := pushCaps(ad, o)
	if err != nil {
		return PushResult{}, fmt.Errorf("push: %w", err)
	}
	s := &sender{rw: rw, caps: caps, cmd: cmd, o: o}
	result, err := s.run()
	if err != nil {
		return PushResult{}, fmt.Errorf("push: %w", orCause(ctx, err))
	}
	return result, nil
}

// pushCaps chooses what is asked of the server.
func pushCaps(ad *Advert, o PushOptions) (Capabilities, error) {
	caps := ad.Caps.only("report-status-v2", "side-band-64k", "ofs-delta")
	if !caps.Has("report-status-v2") {
		caps = append(caps, ad.Caps.only("report-status")...)
	}
	if !caps.Has("report-status") && !caps.Has("report-status-v2") {
		return nil, &UnsupportedError{"a server that does not report what it did"}
	}
	if o.Messages == nil {
		caps = append(caps, ad.Caps.only("quiet")...)
	}
	if len(o.Options) > 0 {
		if !ad.Caps.Has("push-options") {
			return nil, &UnsupportedError{"push options at a server that takes none"}
		}
		caps = append(caps, "push-options")
	}
	for _, option := range o.Options {
		if option == "" || option != oneLine(option) {
			return nil, &ProtocolError{"a push option is empty, too long, or not one line"}
		}
	}
	return append(caps, Agent), nil
}

// sender is one push.
type sender struct {
	rw   io.ReadWriteCloser
	caps Capabilities
	cmd  Command
	o    PushOptions
}

// run sends and listens at the same time. Whatever ends the listening ends the sending: nobody is there for the rest of
// the pack. An answer that broke off is the other side's to end, which may say why beside it.
func (s *sender) run() (PushResult, error) {
	sent := make(chan error, 1)
	go func() { sent <- s.send() }()
	result, err := s.receive()
	patience := time.Duration(0)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		patience = endPatience
	}
	sending := s.end(sent, patience)
	if own, ok := errors.AsType[*packError](sending); ok {
		return PushResult{}, own.err // the stream was closed for it: the answer says nothing
	}
	if err != nil && sending != nil && errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w (while sending: %v)", err, sending)
	}
	return result, err
}

// end waits for the end of the sending, and closes the stream if that does not come in time. What is over already is
// not disturbed, however little patience there is.
func (s *sender) end(sent <-chan error, patience time.Duration) error {
	select {
	case err := <-sent:
		return err
	default:
	}
	select {
	case err := <-sent:
		return err
	case <-time.After(patience):
		s.rw.Close()
		return <-sent
	}
}

// endPatience is how long the other side may take to end a push whose answer broke off.
const endPatience = 5 * time.Second

// packError is a failure to make the pack, on this side of the stream.
type packError struct{ err error }

func (e *packError) Error() string { return e.err.Error() }

// send writes the command and the pack.
func (s *sender) send() error {
	stream := &failing{w: s.rw}
	w := bufio.NewWriterSize(stream, maxBand)
	if err := s.encode(pktline.NewEncoder(w)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.cmd.New.IsZero() {
		return closeWrite(s.rw)
	}
	err := s.o.WritePack(w)
	if err == nil {
		err = w.Flush()
		if err == nil {
			err = closeWrite(s.rw)
		}
		return err
	}
	if stream.err == nil {
		s.rw.Close() // the remote must not wait for the rest
		return &packError{err}
	}
	return err
}

func (s *sender) encode(out *pktline.Encoder) error {
	if err := out.Encodef("%s %s %s\x00%s", s.cmd.Old, s.cmd.New, s.cmd.Ref, s.caps); err != nil {
		return err
	}
	if err := out.Flush(); err != nil || len(s.o.Options) == 0 {
		return err
	}
	if err := out.EncodeString(s.o.Options...); err != nil {
		return err
	}
	return out.Flush()
}

// failing remembers whether the stream failed.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		f.err = err
	}
	return n, err
}
