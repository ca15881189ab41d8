package replica

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gitwire"
)

// forMain is where a hub takes pushes that it joins itself.
const forMain = "refs/for/main"

// Space is one of the hub's spaces as a remote. A push never loses a race:
// the hub joins it with what others pushed meanwhile.
func (h *Hub) Space(name string) Remote {
	return &hubSpace{hub: h, wireRemote: &wireRemote{
		where: h.where(),
		open: func(ctx context.Context, service string) (stream, error) {
			return h.open(ctx, service+" '"+name+"'")
		},
		joins: true,
	}}
}

// hubSpace is a space at a hub.
type hubSpace struct {
	*wireRemote
	hub *Hub
}

func (s *hubSpace) Device() event.DeviceID { return s.hub.Device() }

func (s *hubSpace) Push(ctx context.Context, o Offer) (Pushed, error) {
	device := s.hub.Device()
	pushed, err := s.wireRemote.Push(ctx, o)
	if cloned, ok := errors.AsType[*ClonedError](err); ok {
		cloned.Device = device
	}
	return pushed, err
}

func (s *hubSpace) Clock() (time.Time, time.Duration, bool) { return s.hub.Clock() }

func (s *hubSpace) ReadClock(ctx context.Context) error { return s.hub.ReadClock(ctx) }

// Signs says whether a key is the hub's host key.
func (s *hubSpace) Signs(key ed25519.PublicKey) bool { return s.hub.isHost(key) }

// stream is a conversation with one git service.
type stream interface {
	io.ReadWriteCloser
	// ended is why it stopped before it was done.
	ended(ctx context.Context, doing string, err error) error
}

// wireRemote is a repository reached by git's protocol.
type wireRemote struct {
	where string
	open  func(ctx context.Context, service string) (stream, error)
	joins bool // it is a cairn hub, which joins histories by itself
}

// start opens a service and reads what it says first.
func (w *wireRemote) start(ctx context.Context, service string) (stream, *gitwire.Advert, error) {
	s, err := w.open(ctx, service)
	if err != nil {
		return nil, nil, err
	}
	ad, err := gitwire.ReadAdvert(s)
	if err != nil {
		err = w.failure(ctx, s, err)
		s.Close() // the error above says more
		return nil, nil, err
	}
	return s, ad, nil
}

// branch is the remote's branch that holds the space: main, or at a plain
// repository whatever its HEAD stands for.
func (w *wireRemote) branch(ad *gitwire.Advert) string {
	if _, ok := ad.Refs[event.MainRef]; ok || w.joins {
		return event.MainRef
	}
	if strings.HasPrefix(ad.Head, "refs/heads/") {
		return ad.Head
	}
	if len(ad.Refs) == 1 {
		for name := range ad.Refs {
			if strings.HasPrefix(name, "refs/heads/") {
				return name
			}
		}
	}
	return event.MainRef
}

func (w *wireRemote) Fetch(ctx context.Context, want Want) (head plumbing.Hash, err error) {
	s, ad, err := w.start(ctx, "git-upload-pack")
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer s.Close()
	if err := w.told(ctx, ad, want.Told); err != nil {
		return plumbing.ZeroHash, err
	}
	head = ad.Refs[w.branch(ad)]
	if head.IsZero() {
		return head, nil
	}
	wants, err := want.list(head, ad.Refs[eventlog.EpochRef])
	if err != nil || len(wants) == 0 {
		return head, err
	}
	pack, err := gitwire.Fetch(ctx, s, ad, gitwire.FetchRequest{Wants: wants, Haves: want.Haves, Thin: true})
	if err != nil {
		return plumbing.ZeroHash, w.failure(ctx, s, err)
	}
	if err := want.Receive(ctx, pack); err != nil {
		return plumbing.ZeroHash, w.failure(ctx, s, err)
	}
	return head, nil
}

// told passes on what a hub says of itself. What any other server says counts
// for nothing.
func (w *wireRemote) told(ctx context.Context, ad *gitwire.Advert, tell func(context.Context, hubwire.Told) error) error {
	if !w.joins || tell == nil {
		return nil
	}
	return tell(ctx, hubwire.ParseTold(ad.Caps.Value(hubwire.PolicyCap), ad.Caps.Value(hubwire.RosterCap)))
}

// list is what to ask for.
func (w Want) list(head, epoch plumbing.Hash) ([]plumbing.Hash, error) {
	var wants []plumbing.Hash
	has, err := w.Has(head)
	if err != nil {
		return nil, err
	}
	if !has {
		wants = append(wants, head)
	}
	if w.Epoch == nil {
		return wants, nil
	}
	bring, err := w.Epoch(epoch)
	if bring {
		wants = append(wants, epoch)
	}
	return wants, err
}

func (w *wireRemote) Push(ctx context.Context, o Offer) (Pushed, error) {
	var all Pushed
	err := inPortions(func(most int) (Portion, error) {
		p, pushed, err := w.pushNext(ctx, o, most)
		if err == nil {
			o.Known, all.Joined = p.Tip, all.Joined || pushed.Joined
		}
		return p, err
	})
	return all, err
}

// pushNext pushes one portion.
func (w *wireRemote) pushNext(ctx context.Context, o Offer, most int) (Portion, Pushed, error) {
	s, ad, err := w.start(ctx, "git-receive-pack")
	if err != nil {
		return Portion{}, Pushed{}, err
	}
	defer s.Close()
	if err := w.told(ctx, ad, o.Told); err != nil {
		return Portion{}, Pushed{}, err
	}
	if w.joins && ad.Refs[eventlog.EpochRef] != o.Epoch {
		return Portion{}, Pushed{}, ErrRaced // what was purged must not come back with this
	}
	cmd, haves, err := w.command(ad, o)
	if err != nil {
		return Portion{}, Pushed{}, err
	}
	to := Taker{Haves: haves, Most: most}
	if !w.joins {
		to.Onto = cmd.Old
	}
	p, err := o.Next(ctx, to)
	if err != nil {
		return Portion{}, Pushed{}, err
	}
	cmd.New = p.Tip
	options, err := claims(ad, o, p.Tip)
	if err != nil {
		return p, Pushed{}, err
	}
	result, err := gitwire.Push(ctx, s, ad, cmd, gitwire.PushOptions{
		Options: options, WritePack: p.Pack, Messages: func(string) {},
	})
	if err != nil {
		return p, Pushed{}, w.failure(ctx, s, err)
	}
	return p, Pushed{Joined: w.joins && result.Landed.Ref != event.MainRef}, nil
}

// claims says what this machine pushed before, to a remote that wants to know.
func claims(ad *gitwire.Advert, o Offer, tip plumbing.Hash) ([]string, error) {
	last, ok := hubwire.ParseLease(hubwire.Lease + "=" + ad.Caps.Value(hubwire.Lease))
	if o.Claim == nil || !ok || !ad.Caps.Has("push-options") {
		return nil, nil
	}
	claim, err := o.Claim(tip, last)
	if err != nil {
		return nil, err
	}
	var options []string
	for _, c := range claim {
		options = append(options, hubwire.FormatLease(commitform.Hash(c)))
	}
	return options, nil
}

// command is what to ask of the remote, but for the commit, and what it has
// already.
func (w *wireRemote) command(ad *gitwire.Advert, o Offer) (gitwire.Command, []plumbing.Hash, error) {
	branch := w.branch(ad)
	head := ad.Refs[branch]
	var haves []plumbing.Hash
	for _, h := range []plumbing.Hash{head, o.Known} {
		if !h.IsZero() {
			haves = append(haves, h)
		}
	}
	if w.joins {
		return gitwire.Command{Ref: forMain}, haves, nil
	}
	if !head.IsZero() {
		follows, err := o.Follows(head)
		if err != nil {
			return gitwire.Command{}, nil, err
		}
		if !follows {
			return gitwire.Command{}, nil, ErrRaced
		}
	}
	return gitwire.Command{Old: head, Ref: branch}, haves, nil
}

// failure says what an error of the conversation means.
func (w *wireRemote) failure(ctx context.Context, s stream, err error) error {
	if rejected, ok := errors.AsType[*gitwire.RejectedError](err); ok {
		return w.rejection(rejected)
	}
	if remote, ok := errors.AsType[*gitwire.RemoteError](err); ok {
		return &RefusedError{Message: remote.Message}
	}
	if _, ok := errors.AsType[*gitwire.UnsupportedError](err); ok {
		return fmt.Errorf("talk to %s: %w", w.where, err)
	}
	if _, ok := errors.AsType[*gitwire.ProtocolError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || isNet(err) {
		return s.ended(ctx, "talk to "+w.where, err)
	}
	return err
}

// rejection tells a lost race from a refusal, and a refusal of named events
// from any other.
func (w *wireRemote) rejection(r *gitwire.RejectedError) error {
	var refusals []hubwire.Refusal
	words := []string{r.Reason}
	for _, m := range r.Messages {
		if f, ok := hubwire.ParseRefusal(m); ok {
			refusals = append(refusals, f)
		} else if m != "" {
			words = append(words, m)
		}
	}
	message := strings.Join(words, "\n")
	if len(refusals) == 1 && refusals[0].Rule == hubwire.RuleStale {
		return ErrRaced
	}
	if len(refusals) == 1 && refusals[0].Rule == hubwire.RuleLimit {
		return &tooMuchError{message}
	}
	cloned := slices.ContainsFunc(refusals, func(f hubwire.Refusal) bool { return f.Rule == hubwire.RuleClone })
	if cloned && w.joins {
		return &ClonedError{Message: message}
	}
	if len(refusals) > 0 {
		return &DeclinedError{Refusals: refusals, Message: message}
	}
	for _, sign := range []string{"non-fast-forward", "fetch first", "stale info", "failed to lock", "cannot lock ref", "failed to update ref"} {
		if strings.Contains(r.Reason, sign) {
			return ErrRaced
		}
	}
	return &RefusedError{Message: message}
}
