package sshdoor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// window is what a client may send to an open session before anybody reads it. The library does not let us change it.
const window = 2 << 20

// A room bounds what clients may have sent to sessions that nobody has read yet: of one person, and of all. How much it
// really is the library does not tell, so a session takes a whole window, from before it opens until it ends or its input
// is read whatever comes.
type room struct {
	all      chan struct{} // a place for each window
	person   int           // places of one person
	patience time.Duration

	mu     sync.Mutex // guards people
	people map[string]chan struct{}
}

func newRoom(l Limits) *room {
	return &room{
		all: make(chan struct{}, windows(l.Room)), person: windows(l.RoomPerson),
		patience: l.Line, people: map[string]chan struct{}{},
	}
}

func windows(bytes int64) int { return int(max(bytes/window, 1)) }

// enter waits in line for a window. The caller calls leave, as often as it likes. The error is for the client, or the
// context's.
func (r *room) enter(ctx context.Context, person string) (leave func(), err error) {
	own := r.of(person)
	late := time.NewTimer(r.patience)
	defer late.Stop()
	if err := take(ctx, own, late, "your sessions together may have sent as much as the hub keeps for one person"); err != nil {
		return nil, err
	}
	if err := take(ctx, r.all, late, "all sessions together may have sent as much as the hub keeps"); err != nil {
		<-own
		return nil, err
	}
	return sync.OnceFunc(func() { <-r.all; <-own }), nil
}

func take(ctx context.Context, places chan struct{}, late *time.Timer, full string) error {
	select {
	case places <- struct{}{}: // also if it is late
		return nil
	default:
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-late.C:
		return fmt.Errorf("%s, %d MB: end one, or try again later", full, cap(places)*window>>20)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *room) of(person string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.people[person] == nil {
		r.people[person] = make(chan struct{}, r.person)
	}
	return r.people[person]
}

// taken is in bytes.
func (r *room) taken() int64 { return int64(len(r.all)) * window }

// personOf is whose key a visitor has.
func (d *Door) personOf(v *visitor) (string, error) {
	who, err := d.lookup(v.key())
	switch {
	case err != nil:
		d.log.Error("look up a key", "err", err)
		return "", errMembers
	case who.Device != nil:
		return who.Device.Person, nil
	case who.Invite != nil:
		return who.Invite.Person, nil
	}
	return "", nil // it is told so when it says its command
}
