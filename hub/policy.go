package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// maxPolicyRequest bounds a request about the policy: a file in base 64, and
// the version that names it.
const maxPolicyRequest = 1 << 20

// aboutPolicy answers one question about the policy, or takes a signature.
func (h *Hub) aboutPolicy(ctx context.Context, s *sshdoor.Session, who caller) error {
	var r hubwire.PolicyRequest
	if err := json.NewDecoder(io.LimitReader(s.Stream, maxPolicyRequest)).Decode(&r); err != nil {
		return problem.New(problem.Usage, "this is no question about the policy")
	}
	answer, err := h.admin.Policy(ctx, admin.Caller{Person: who.Person, Device: who.ID, Addr: who.addr}, r)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.Stream).Encode(answer)
}

// A force is the policy that the hub judges by at one moment.
type force struct {
	*policy.Policy
	mark hubwire.PolicyMark
}

// A judge keeps the policy that is in force ready to judge by.
type judge struct {
	mu  sync.Mutex
	now force // no policy before the first use
}

// inForce is the policy in force at this moment, also if another process has
// just changed it. An error means that nothing can be judged.
func (h *Hub) inForce() (force, error) {
	active, err := h.team.Active()
	if err != nil {
		return force{}, admin.PolicyProblem(err)
	}
	mark := hubwire.BuiltIn
	if active != nil {
		mark = hubwire.PolicyMark{Number: active.Number, Hash: active.Hash().String()}
	}
	h.judge.mu.Lock()
	defer h.judge.mu.Unlock()
	if h.judge.now.Policy != nil && h.judge.now.mark == mark {
		return h.judge.now, nil
	}
	next := force{Policy: h.builtIn, mark: mark}
	if active != nil {
		prints, err := h.team.Prints()
		if err != nil {
			return force{}, err
		}
		file, err := h.team.Parse(active.Text)
		if err != nil {
			return force{}, errNewerPolicy(active.Version, err)
		}
		next.Policy = policy.With(active.Number, file.Rules(rules.Options{Key: prints, Now: h.now}))
	}
	h.judge.now = next
	return next, nil
}

func errNewerPolicy(v versions.Version, err error) error {
	return &problem.Problem{
		Code: problem.NewerSchema, Message: fmt.Sprintf("this hub does not understand version %d of its policy, so nothing is taken: %v", v.Number, err),
		Hint: "upgrade cairn at the hub, or go back: cairn hub policy rollback", Err: err,
	}
}

// A pass is who may do what at one moment: as members, and by the policy, which
// only takes away.
type pass struct {
	*devices.Members
	force
}

func (h *Hub) pass() (pass, error) {
	m, err := h.members.Now()
	if err != nil {
		return pass{}, err
	}
	f, err := h.inForce()
	return pass{m, f}, err
}

// role is what a person may do in a space as a whole. Who may only redact there
// may push, and the gate lets nothing else of theirs pass.
func (p pass) role(person, space string) devices.Role {
	role := p.Members.Role(person, space)
	r := p.Rules()
	if r == nil || space == hubwire.Personal || space == hubwire.Audit {
		return role
	}
	switch {
	case !r.May(person, space, rules.Read):
		return devices.None
	case role.Allows(devices.Write) && !r.May(person, space, rules.Write) && !r.May(person, space, rules.Redact):
		return devices.Read
	}
	return role
}

// administers says whether the policy lets somebody who is an admin administer a
// space.
func (h *Hub) administers(person, space string) (bool, error) {
	f, err := h.inForce()
	if err != nil {
		return false, err
	}
	r := f.Rules()
	return r == nil || r.May(person, space, rules.Admin), nil
}

// maySign says whether an approval of what still waits is by a device that is
// its person's now. Whether that person is an admin is for the chain to say.
func (h *Hub) maySign(a versions.Approval) (bool, error) {
	if a.Person == versions.Operator {
		return true, nil
	}
	m, err := h.members.Now()
	if err != nil {
		return false, err
	}
	d, ok := m.Device(event.DeviceOf(a.Key))
	return ok && d.Revoked == nil && d.Person == a.Person, nil
}

// newSight is the policy that a hub begins to serve with.
func (h *Hub) newSight() hubwire.PolicyMark {
	f, err := h.inForce()
	if err != nil {
		return hubwire.PolicyMark{}
	}
	return f.mark
}

// look tells the watchers if another process has changed the policy, and the
// log what is wrong with it, once.
func (h *Hub) look(seen *hubwire.PolicyMark, judging *outage) {
	f, err := h.inForce()
	if judging.isNews(err) {
		h.log.Error("read the policy", "err", err)
	}
	if err == nil && f.mark != *seen {
		*seen = f.mark
		h.news.tell()
	}
}
