package agent

import (
	"context"
	"time"

	"cairn/agent/api"
	"cairn/agent/briefing"
	"cairn/internal/event"
)

// digestDelay is how long after a change the digest is written down, at the
// least: then many changes at once are one.
const digestDelay = 250 * time.Millisecond

// changed says that the digest may be another one now.
func (a *Agent) changed() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// keepDigests writes the digest down after changes, until ctx ends. In a large
// memory under constant writing it takes a twentieth of the time.
func (a *Agent) keepDigests(ctx context.Context) {
	delay := digestDelay
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.news:
		}
		if sleep(ctx, delay) != nil {
			a.changed() // closing writes it
			return
		}
		start := time.Now()
		a.keepDigest()
		delay = max(digestDelay, 20*time.Since(start))
	}
}

// keepDigest writes down the digest for the hooks of AI tools, which read it
// while no agent runs.
func (a *Agent) keepDigest() {
	digest, err := a.Digest(context.Background(), 0)
	if err == nil {
		err = a.replaceDigest(digest)
	}
	if err != nil {
		a.log.Warn("the digest for the start of sessions stays as it was", "err", err)
	}
}

// replaceDigest writes nothing for a command that only read.
func (a *Agent) replaceDigest(digest string) error {
	kept, err := briefing.Kept(a.opt.FS, a.opt.Home)
	if err == nil && kept == digest {
		return nil
	}
	return briefing.Keep(a.opt.FS, a.opt.Home, digest)
}

// keepLastDigest is for the end, when everything else is done.
func (a *Agent) keepLastDigest() {
	select {
	case <-a.news:
		a.keepDigest()
	default:
	}
}

// saved lets the digest and the courier know of an event that was just saved.
func (a *Agent) saved(r api.Receipt) {
	a.courier.Saved(r.Space)
	switch {
	case r.Kind == event.KindRedact:
		a.keepDigest() // at once: what is hidden must not come up again, whatever happens next
	case a.owner != nil:
		a.changed()
	}
}

// Follow brings what is derived of a space level with its log.
func (a *Agent) Follow(ctx context.Context, space string) error {
	err := a.Service.Follow(ctx, space)
	if err == nil { // or a digest of half a log would replace one of the whole
		a.changed()
	}
	return err
}

// followAll brings all spaces level, and then the digest: another process may
// have written while no agent ran.
func (a *Agent) followAll(ctx context.Context) {
	for _, space := range a.Spaces() {
		if err := a.Follow(ctx, space); err != nil && ctx.Err() == nil {
			a.log.Warn("a space cannot be read to its end", "space", space, "err", err)
		}
	}
}
