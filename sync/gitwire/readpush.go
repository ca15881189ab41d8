package gitwire

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	// MaxCommands is how many refs one push may name.
	MaxCommands = 64
	maxOptions  = 64
)

// A Command is one ref that a push sets. Old is zero if the ref is new, New is zero if it is to be deleted.
type Command struct {
	Old, New plumbing.Hash
	Ref      string
}

// A PushRequest is what a client says before it sends its pack.
type PushRequest struct {
	Commands []Command
	Options  []string     // of git push -o, made safe to print
	Caps     Capabilities // what the client wants done, out of what was offered
}

// HasPack reports whether a pack follows: if anything but deletions is asked for.
func (r *PushRequest) HasPack() bool {
	for _, c := range r.Commands {
		if !c.New.IsZero() {
			return true
		}
	}
	return false
}

// ReadPush reads what a client sends after the advert with the offered capabilities, up to the pack, which can then be
// read from r. A request without commands and error means that the client wanted nothing. The request is never nil: with
// an error it holds what was understood, and a PushReply made for it can tell the client. A wait for the client ends
// when r is closed; ctx is looked at between lines.
// Errors: *ProtocolError, *UnsupportedError, io.ErrUnexpectedEOF if the client vanished, ctx's, or those of r.
func ReadPush(ctx context.Context, r io.Reader, offered Capabilities) (*PushRequest, error) {
	req := new(PushRequest)
	in := newLines(r)
	err := req.readCommands(ctx, in, offered)
	if err == nil && len(req.Commands) > 0 && req.Caps.Has("push-options") {
		err = req.readOptions(ctx, in)
	}
	if err != nil {
		return req, fmt.Errorf("read push: %w", err)
	}
	return req, nil
}

func (r *PushRequest) readCommands(ctx context.Context, in *lines, offered Capabilities) error {
	for {
		line, flush, err := in.text()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || flush {
			return err
		}
		if len(r.Commands) == 0 {
			var caps string
			line, caps, _ = strings.Cut(line, "\x00")
			if err := r.choose(ParseCapabilities(caps), offered); err != nil {
				return err
			}
		}
		if len(r.Commands) == MaxCommands {
			return &ProtocolError{fmt.Sprintf("more than %d refs in one push", MaxCommands)}
		}
		c, err := parseCommand(line)
		if err != nil {
			return err
		}
		if r.names(c.Ref) {
			return &ProtocolError{"a ref is named twice in one push"}
		}
		r.Commands = append(r.Commands, c)
	}
}

// choose keeps of the wanted capabilities those that were offered.
func (r *PushRequest) choose(wanted, offered Capabilities) error {
	for _, c := range wanted {
		name, _, _ := strings.Cut(c, "=")
		if offered.Has(name) {
			r.Caps = append(r.Caps, c)
		} else if name == "push-options" { // they would follow and be taken for the pack
			return &ProtocolError{"push options were not offered"}
		}
	}
	return wanted.checkFormat()
}

func (r *PushRequest) names(ref string) bool {
	for _, c := range r.Commands {
		if c.Ref == ref {
			return true
		}
	}
	return false
}

func parseCommand(line string) (Command, error) {
	if strings.HasPrefix(line, "shallow ") {
		return Command{}, &UnsupportedError{"a push from a shallow clone (run \"git fetch --unshallow\" first)"}
	}
	if strings.HasPrefix(line, "push-cert") {
		return Command{}, &UnsupportedError{"a signed push"}
	}
	before, rest, okOld := cutHash(line)
	after, ref, okNew := cutHash(rest)
	if !okOld || !okNew || before.IsZero() && after.IsZero() {
		return Command{}, &ProtocolError{"a line of the push is not a command"}
	}
	if !refName(ref) {
		return Command{}, &ProtocolError{"a ref has no proper name"}
	}
	return Command{Old: before, New: after, Ref: ref}, nil
}

func (r *PushRequest) readOptions(ctx context.Context, in *lines) error {
	for {
		line, flush, err := in.text()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || flush {
			return err
		}
		if len(r.Options) == maxOptions || len(line) > maxText {
			return &ProtocolError{"too many push options, or one is too long"}
		}
		r.Options = append(r.Options, oneLine(line))
	}
}
