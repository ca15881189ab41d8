package hub

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"cairn/hub/admin"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
)

func (h *Hub) lookup(key ed25519.PublicKey) (devices.Identity, error) {
	m, err := h.members.Now()
	if err != nil {
		return devices.Identity{}, err
	}
	return m.Lookup(key), nil
}

// A caller is the live device at the other end of a session.
type caller struct {
	devices.Device
	fingerprint string
	addr        string
}

// handle runs one command. The door has made sure that an invite gets no
// further than enrol.
func (h *Hub) handle(ctx context.Context, s *sshdoor.Session) error {
	if s.Command.Name == hubwire.CmdEnrol {
		return h.enrol(ctx, s)
	}
	who := caller{Device: *s.Who.Device, fingerprint: s.Fingerprint, addr: s.Addr}
	switch s.Command.Name {
	case sshdoor.UploadPack:
		repo, at, err := h.open(who, s.Command.Args[0], devices.Read)
		if err != nil {
			return err
		}
		told, err := h.told(at)
		if err != nil {
			return err
		}
		err = repo.ServeFetch(ctx, s.Stream, told)
		h.meter.fetched(err)
		return err
	case sshdoor.ReceivePack:
		return h.push(ctx, s, who, s.Command.Args[0])
	case hubwire.CmdWatch:
		return h.watch(ctx, s, who)
	case hubwire.CmdWhoami:
		return h.whoami(s, who)
	case hubwire.CmdSpaces:
		return h.listSpaces(s, who)
	case hubwire.CmdRenew:
		return h.renew(ctx, s, who)
	case hubwire.CmdRoster:
		return h.tellRoster(s)
	case hubwire.CmdPolicy:
		return h.aboutPolicy(ctx, s, who)
	case sshdoor.Hub:
		return h.administer(ctx, s, who)
	}
	return fmt.Errorf("the door let the command %s through", s.Command.Name)
}

// open is the space as the caller means it, if they have the right need at this
// moment.
func (h *Hub) open(who caller, space string, need devices.Role) (*repository.Repository, pass, error) {
	at, err := h.pass()
	if err != nil {
		return nil, at, err
	}
	repo, err := h.openBy(at, who, space, need)
	return repo, at, err
}

// openBy is open, as of the moment of a pass.
func (h *Hub) openBy(at pass, who caller, space string, need devices.Role) (*repository.Repository, error) {
	if err := at.mayUse(who, space, need); err != nil {
		return nil, err
	}
	if space == hubwire.Personal {
		return h.spaces.Personal(who.Person, h.now())
	}
	return h.spaces.Shared(space)
}

// mayUse is why the caller has not the right need in the space, or nil.
func (p pass) mayUse(who caller, space string, need devices.Role) error {
	role := p.role(who.Person, space)
	switch {
	case !role.Allows(devices.Read):
		return repository.ErrNoSpace
	case space == hubwire.Audit && need != devices.Read:
		return errAuditSpace()
	case !role.Allows(need):
		return errReadOnly(who, space)
	}
	return nil
}

func (h *Hub) push(ctx context.Context, s *sshdoor.Session, who caller, space string) error {
	repo, at, err := h.open(who, space, devices.Write)
	if err == nil {
		err = h.quota.mayWrite(at, at.Origin(who.ID), space, h.now())
	}
	if err != nil {
		return h.refusedPush(who, space, err)
	}
	v := verdict{policy: at.mark.Number}
	by := h.pusher(who, space, at, &v)
	by.Refused = s.Trouble
	if by.Caps, err = h.told(at); err != nil {
		return err
	}
	out, err := repo.ServePush(ctx, s.Stream, by)
	if !out.Asked {
		return err
	}
	if v.denied != nil {
		out.Rules = []string{ruleOf(v.denied)}
	}
	r := audit.Record{
		Person: who.Person, Device: who.ID, Addr: who.addr, Action: "push", Space: space,
		Ref: out.Ref, Verdict: audit.Refused, Rules: out.Rules, OnTrial: v.trials.list, Events: out.Events,
		Policy: v.policy,
	}
	if err != nil && len(out.Rules) == 0 {
		r.Verdict = audit.Failed
	}
	if out.Taken {
		r.Verdict, r.Commit = audit.Taken, out.Head.String()
	}
	h.meter.pushed(space, out, r.Verdict)
	return errors.Join(err, h.audit.Append(r))
}

func (h *Hub) administer(ctx context.Context, s *sshdoor.Session, who caller) error {
	m, err := h.members.Now()
	if err != nil {
		return err
	}
	if !m.IsAdmin(who.Person) {
		return errNotAdmin(who)
	}
	result, err := h.admin.Run(ctx, admin.Caller{Person: who.Person, Device: who.ID, Addr: who.addr}, s.Command.Args)
	if err != nil {
		return err
	}
	if slices.Contains(s.Command.Args, "--json") {
		return json.NewEncoder(s.Stream).Encode(result)
	}
	_, err = io.WriteString(s.Stream, result.String())
	return err
}
