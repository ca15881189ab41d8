package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"cairn/agent/api"
	"cairn/internal/config"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/lazyregexp"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/scope"
	"cairn/sync/replica"
)

// hubRemote is the name of the hub among a space's remotes.
const hubRemote = "hub"

var remoteName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,38}$`)

// openRemotes gives the courier the remotes of the configuration.
func (a *Agent) openRemotes(ctx context.Context) error {
	var hub *replica.Hub
	if a.config.Hub != nil {
		var err error
		if hub, err = a.openHub(*a.config.Hub); err != nil {
			return err
		}
	}
	for _, r := range a.config.Remotes {
		at := api.Remote{Space: r.Space, Name: r.Name, URL: r.URL, Hub: r.Hub}
		if err := a.link(ctx, at, "", hub); err != nil {
			a.log.Warn("a remote cannot be used", "space", r.Space, "remote", r.Name, "err", err)
		}
	}
	return nil
}

func (a *Agent) openHub(c config.Hub) (*replica.Hub, error) {
	hub, err := replica.NewHub(replica.Address{Host: c.Address, Fingerprint: c.Fingerprint}, *a.key.Load())
	if err != nil {
		return nil, err
	}
	hub.SetPatience(a.opt.Patience)
	a.courier.UseHub(hub, func(ctx context.Context, offered []hubwire.SpaceInfo) {
		if err := a.linkOffered(ctx, hub, offered); err != nil {
			a.log.Warn("a space of the hub cannot be linked", "err", err)
		}
	})
	return hub, nil
}

// link gives one remote to the courier.
func (a *Agent) link(ctx context.Context, at api.Remote, id event.ID, hub *replica.Hub) error {
	remote, err := a.remoteFor(at, hub)
	if err != nil {
		return err
	}
	_, err = a.courier.Add(ctx, at, id, remote)
	return err
}

// remoteFor is the remote at an address as something to talk to.
func (a *Agent) remoteFor(at api.Remote, hub *replica.Hub) (replica.Remote, error) {
	if !at.Hub {
		remote, err := replica.Plain(a.opt.FS, at.URL)
		if err != nil {
			return nil, problem.New(problem.Usage, err.Error())
		}
		return remote, nil
	}
	if hub == nil {
		return nil, problem.New(problem.Usage, "the space is synced with a hub, and the machine has joined none")
	}
	return hub.Space(at.Space), nil
}

// relink gives the courier the remotes of a space that could not be opened
// when the agent started.
func (a *Agent) relink(ctx context.Context, space string) error {
	a.linking.Lock()
	defer a.linking.Unlock()
	a.mu.Lock()
	remotes := slices.Clone(a.config.Remotes)
	a.mu.Unlock()
	for _, r := range remotes {
		if r.Space != space || len(a.courier.Links(r.Space, r.Name)) > 0 {
			continue
		}
		at := api.Remote{Space: r.Space, Name: r.Name, URL: r.URL, Hub: r.Hub}
		if err := a.link(ctx, at, "", a.courier.Hub()); err != nil {
			return asProblem(err)
		}
	}
	return nil
}

// linkOffered links the spaces of the hub that are not linked yet.
func (a *Agent) linkOffered(ctx context.Context, hub *replica.Hub, offered []hubwire.SpaceInfo) error {
	a.linking.Lock()
	defer a.linking.Unlock()
	var failed error
	for _, s := range offered {
		if len(a.courier.Links(s.Name, hubRemote)) > 0 || !scope.MayTravel(s.Name) {
			continue
		}
		at := api.Remote{Space: s.Name, Name: hubRemote, URL: a.hubAddress(), Hub: true}
		if err := a.link(ctx, at, s.ID, hub); err != nil {
			failed = errors.Join(failed, fmt.Errorf("space %s: %w", s.Name, err))
			continue
		}
		failed = errors.Join(failed, a.saveRemote(at))
	}
	return failed
}

func (a *Agent) hubAddress() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.config.Hub == nil {
		return ""
	}
	return a.config.Hub.Address
}

func (a *Agent) saveRemote(r api.Remote) error {
	return a.changeConfig(func(c *config.Config) {
		c.Remotes = append(c.Remotes, config.Remote{Space: r.Space, Name: r.Name, URL: r.URL, Hub: r.Hub})
	})
}

// changeConfig writes a changed configuration.
func (a *Agent) changeConfig(change func(*config.Config)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.config
	c.Remotes = slices.Clone(c.Remotes)
	change(&c)
	if err := config.Save(a.opt.FS, a.opt.Home.Config(), c); err != nil {
		return err
	}
	a.config = c
	return nil
}

// Remotes lists where the spaces are synced to.
func (a *Agent) Remotes(context.Context) ([]api.Remote, error) {
	list := []api.Remote{}
	for _, l := range a.courier.Links("", "") {
		list = append(list, l.Remote)
	}
	return list, nil
}

// AddRemote syncs a space with a git repository from now on.
func (a *Agent) AddRemote(ctx context.Context, r api.Remote) error {
	if err := a.mayOwn("change the remotes"); err != nil {
		return err
	}
	if r.Space == "" {
		r.Space = scope.Personal
	}
	switch {
	case !scope.MayTravel(r.Space):
		return &problem.Problem{Code: problem.Policy, Rule: "space", Message: `the space "local" never leaves this machine: it can have no remote`}
	case !remoteName().MatchString(r.Name) || r.Name == hubRemote && !r.Hub:
		return problem.New(problem.Usage, `a remote's name has lower-case letters, digits and dashes, and is not "hub"`)
	case len(a.courier.Links(r.Space, r.Name)) > 0:
		return problem.New(problem.Usage, "space "+r.Space+" has a remote of the name "+r.Name+" already")
	}
	if found := a.team.BuiltIn().DecideRaw(policy.Ref, []byte(r.URL)); len(found) > 0 {
		return &problem.Problem{
			Code: problem.Secret, Rule: found[0].Rule, Field: "url",
			Message: "refused, nothing was changed: the address holds what looks like a secret, and would be stored and shown",
			Hint:    "log in with an ssh key instead; if the secret was ever shared, revoke it",
		}
	}
	r.Hub = false
	if err := a.link(ctx, r, "", nil); err != nil {
		return asProblem(err)
	}
	return asProblem(a.saveRemote(r))
}

// RemoveRemote ends the sync of a space with a remote.
func (a *Agent) RemoveRemote(_ context.Context, space, name string) error {
	if err := a.mayOwn("change the remotes"); err != nil {
		return err
	}
	if !a.courier.Remove(space, name) {
		return problem.New(problem.NotFound, "space "+space+" has no remote of the name "+name)
	}
	return asProblem(a.changeConfig(func(c *config.Config) {
		c.Remotes = slices.DeleteFunc(c.Remotes, func(r config.Remote) bool { return r.Space == space && r.Name == name })
	}))
}

// mayOwn refuses what only the owner of the home can do.
func (a *Agent) mayOwn(what string) error {
	if a.owner != nil {
		return nil
	}
	p := problem.New(problem.Busy, "another process owns this memory and does not answer: nothing was done")
	p.Hint = "end it, then " + what + " again"
	return p
}

// Join enrols this machine at the hub of an invite and pulls its spaces.
func (a *Agent) Join(ctx context.Context, text string) (api.Joined, error) {
	if err := a.mayOwn("join"); err != nil {
		return api.Joined{}, err
	}
	in, err := invite.Parse(text)
	if err != nil {
		return api.Joined{}, problem.New(problem.Usage, err.Error())
	}
	a.mu.Lock()
	have := a.config.Hub
	a.mu.Unlock()
	enrolled, err := replica.Enrol(ctx, in, *a.key.Load(), a.machineName())
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Rule == hubwire.RuleRevoked {
		enrolled, err = a.enrolAnew(ctx, in, have)
	}
	if err == nil {
		err = onlyHub(have, enrolled)
	}
	if err != nil {
		return api.Joined{}, askedProblem(err, "join again when the hub can be reached: the same invite will do")
	}
	hub := config.Hub{ID: string(enrolled.Hub), Address: in.Addr, Fingerprint: in.HostKey}
	err = a.changeConfig(func(c *config.Config) { c.Hub, c.Person = &hub, enrolled.Person })
	if err != nil {
		return api.Joined{}, asProblem(err)
	}
	return a.firstExchange(ctx, have, hub, enrolled)
}

// onlyHub refuses another hub than the one that a memory belongs to, if any.
func onlyHub(have *config.Hub, e hubwire.Enrolled) error {
	if have == nil || have.ID == string(e.Hub) {
		return nil
	}
	return problem.New(problem.Usage, "this memory belongs to the hub at "+have.Address+": use another home for another hub")
}

// machineName is what the machine is called at the hub.
func (a *Agent) machineName() string {
	a.mu.Lock()
	name := a.config.Name
	a.mu.Unlock()
	if name != "" {
		return name
	}
	host, err := os.Hostname()
	if err != nil {
		return "machine"
	}
	return host
}

// firstExchange links what the hub offers and syncs it once. have is how the
// hub was reached before, nil if it was not.
func (a *Agent) firstExchange(ctx context.Context, have *config.Hub, at config.Hub, e hubwire.Enrolled) (api.Joined, error) {
	hub := a.courier.Hub()
	var err error
	switch {
	case hub == nil:
		if hub, err = a.openHub(at); err != nil {
			return api.Joined{}, asProblem(err)
		}
	case *have != at:
		hub.Move(replica.Address{Host: at.Address, Fingerprint: at.Fingerprint})
	default:
		hub.Drop() // the rights may be others now
	}
	if err := a.linkOffered(ctx, hub, e.Spaces); err != nil {
		return api.Joined{}, asProblem(err)
	}
	j := api.Joined{Hub: at.Address, Person: e.Person, Device: string(e.Device), Spaces: []string{}}
	for _, s := range e.Spaces {
		j.Spaces = append(j.Spaces, s.Name)
		for _, l := range a.courier.Links(s.Name, hubRemote) {
			if _, err := l.Exchange(ctx, ""); err != nil {
				return j, syncProblem(fmt.Errorf("this machine is enrolled; space %s could not be pulled yet: %w", s.Name, err))
			}
		}
	}
	return j, nil
}
