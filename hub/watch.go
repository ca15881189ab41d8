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
	// First follow, then look: what happens in between is told twice, never
	// not at all.
	changed := h.news.next()
	at, err := h.pass()
	if err != nil {
		return err
	}
	var repos []*repository.Repository
	for _, name := range s.Command.Args {
		repo, err := h.openBy(at, who, name, devices.Read)
		if err != nil {
			return err
		}
		repos = append(repos, repo)
	}
	w := h.spaces.Feed().Watch(repos...)
	defer w.Close()
	out := json.NewEncoder(s.Stream)
	hello, err := greet(ctx, repos)
	if err != nil {
		return err
	}
	hello.Seq = w.Since
	b, err := h.bulletin(at, who)
	if err != nil {
		return err
	}
	hello.Policy, hello.Roster = b.policy, b.roster
	if err := out.Encode(hello); err != nil {
		return err
	}
	return h.follow(ctx, s, who, w, out, changed, b)
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

// follow tells one line after the other. Members and policy are looked at once
// for each, after it is known that there is something to tell.
func (h *Hub) follow(ctx context.Context, s *sshdoor.Session, who caller, w *repository.Watcher, out *json.Encoder, changed <-chan struct{}, told bulletin) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var line hubwire.Line
		news, tell := false, true
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
		case <-changed:
			changed, news = h.news.next(), true
		case <-ping.C:
			line = hubwire.Line{Ping: true}
		}
		at, err := h.pass()
		if err == nil {
			err = at.stillReads(who, s.Command.Args)
		}
		if err == nil && news {
			line, tell, err = h.newsAfter(at, who, &told)
		}
		if err == nil && tell {
			err = out.Encode(line)
		}
		if err != nil || line.Resync {
			return err
		}
	}
}

// A bulletin is what a watcher is told beside changes of refs.
type bulletin struct {
	policy  string
	roster  int64
	offered []string // shared spaces that they may read; of these they ask anew
}

// bulletin is what is to be told at the moment of a pass.
func (h *Hub) bulletin(at pass, who caller) (bulletin, error) {
	r, err := h.roster(at.Members)
	if err != nil {
		return bulletin{}, err
	}
	names, err := h.spaces.Names()
	hidden := func(space string) bool { return !at.role(who.Person, space).Allows(devices.Read) }
	return bulletin{policy: at.mark.String(), roster: r.Number, offered: slices.DeleteFunc(names, hidden)}, err
}

// newsAfter is the line about what was not told yet; tell is false if there is
// nothing.
func (h *Hub) newsAfter(at pass, who caller, told *bulletin) (line hubwire.Line, tell bool, err error) {
	now, err := h.bulletin(at, who)
	if err != nil {
		return line, false, err
	}
	before := *told
	*told = now
	if !slices.Equal(now.offered, before.offered) { // the client asks anew, and may find a space more
		return hubwire.Line{Resync: true}, true, nil
	}
	return hubwire.Line{Policy: now.policy, Roster: now.roster}, now.policy != before.policy || now.roster != before.roster, nil
}

// stillReads ends a watch of a space that the caller may no longer read.
func (p pass) stillReads(who caller, spaces []string) error {
	for _, space := range spaces {
		if !p.role(who.Person, space).Allows(devices.Read) {
			return repository.ErrNoSpace
		}
	}
	return nil
}
