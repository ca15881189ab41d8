package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
)

// pingEvery is how often a watch says something when nothing happens.
const pingEvery = 15 * time.Second

// watch tells the changes of some spaces until the client or the hub goes.
func (h *Hub) watch(ctx context.Context, s *sshdoor.Session, who caller) error {
	var repos []*repository.Repository
	for _, name := range s.Command.Args {
		repo, _, err := h.open(who, name, devices.Read)
		if err != nil {
			return err
		}
		repos = append(repos, repo)
	}
	// First follow, then look: what happens in between is told twice, never
	// not at all.
	w := h.spaces.Feed().Watch(repos...)
	defer w.Close()
	out := json.NewEncoder(s.Stream)
	hello, err := greet(ctx, repos)
	if err != nil {
		return err
	}
	hello.Seq = w.Since
	changed := h.news.next()
	offered, err := h.readableBy(who)
	if err != nil {
		return err
	}
	if err := h.tellNews(&hello); err != nil {
		return err
	}
	if err := out.Encode(hello); err != nil {
		return err
	}
	return h.follow(ctx, s, who, w, out, &bulletin{changed: changed, offered: offered, policy: hello.Policy, roster: hello.Roster})
}

func greet(ctx context.Context, repos []*repository.Repository) (hubwire.Line, error) {
	hello := hubwire.Line{Hello: map[string]map[string]string{}}
	for _, r := range repos {
		refs, err := r.Refs(ctx)
		if err != nil {
			return hubwire.Line{}, err
		}
		heads := map[string]string{}
		for name, commit := range refs {
			heads[name] = commit.String()
		}
		hello.Hello[r.Space().Name] = heads
	}
	return hello, nil
}

func (h *Hub) follow(ctx context.Context, s *sshdoor.Session, who caller, w *repository.Watcher, out *json.Encoder, b *bulletin) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var line hubwire.Line
		silent := false
		select {
		case <-ctx.Done():
			return nil
		case <-s.Stopping:
			return nil
		case c, ok := <-w.Changes:
			if !ok {
				return out.Encode(hubwire.Line{Resync: true})
			}
			line = hubwire.Line{Seq: c.Seq, Space: c.Repository.Space().Name, Ref: c.Ref, New: c.New.String()}
		case <-b.changed:
			b.changed = h.news.next()
			if err := h.tellNews(&line); err != nil {
				return err
			}
			offered, err := h.readableBy(who)
			if err != nil {
				return err
			}
			silent = !b.isNews(line)
			if !slices.Equal(offered, b.offered) { // the client asks anew, and may find a space more
				line, silent = hubwire.Line{Resync: true}, false
			}
		case <-ping.C:
			line = hubwire.Line{Ping: true}
		}
		err := h.stillReads(who, s.Command.Args)
		if err == nil && !silent {
			err = out.Encode(line)
		}
		if err != nil || line.Resync {
			return err
		}
	}
}

// A bulletin is what a watcher was told last beside changes of refs.
type bulletin struct {
	changed <-chan struct{} // closed when there may be something new
	offered []string        // shared spaces that they may read
	policy  string
	roster  int64
}

// isNews says whether a line tells what the one before did not.
func (b *bulletin) isNews(l hubwire.Line) bool {
	news := b.policy != l.Policy || b.roster != l.Roster
	b.policy, b.roster = l.Policy, l.Roster
	return news
}

// tellNews puts into a line which policy is in force and which list of devices.
func (h *Hub) tellNews(line *hubwire.Line) error {
	at, err := h.pass()
	if err != nil {
		return err
	}
	r, err := h.roster(at.Members)
	line.Policy, line.Roster = at.mark.String(), r.Number
	return err
}

// readableBy lists the shared spaces that the caller may read.
func (h *Hub) readableBy(who caller) ([]string, error) {
	at, err := h.pass()
	if err != nil {
		return nil, err
	}
	names, err := h.spaces.Names()
	return slices.DeleteFunc(names, func(space string) bool { return !at.role(who.Person, space).Allows(devices.Read) }), err
}

// stillReads ends a watch of a space that the caller may no longer read.
func (h *Hub) stillReads(who caller, spaces []string) error {
	at, err := h.pass()
	if err != nil {
		return err
	}
	for _, space := range spaces {
		if !at.role(who.Person, space).Allows(devices.Read) {
			return repository.ErrNoSpace
		}
	}
	return nil
}
