package hub

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/sync/gitstore"
)

// pusher is how a push of the caller's to the space is judged. at is as of its
// beginning.
func (h *Hub) pusher(who caller, space string, at pass, v *verdict) repository.Pusher {
	p := repository.Pusher{
		Device: who.ID, Person: who.Person,
		Judge: func() (repository.Judge, error) { return h.judgement(who, space, v) },
	}
	if r := at.Rules(); r != nil {
		l := r.Limits(space)
		p.Pack = gitstore.Limits{Bytes: l.Push, Objects: int(l.Objects), Inflated: l.Inflated}
	}
	return p
}

// A verdict is for the record of a push: how it was judged the last time.
type verdict struct {
	policy int // number of the version
	trials ruleSet
	denied error // why the caller may not push now
}

// judgement judges by members and policy as they are now. The caller's own
// right may have ended while the push was under way.
func (h *Hub) judgement(who caller, space string, v *verdict) (repository.Judge, error) {
	at, err := h.pass()
	if err != nil {
		return repository.Judge{}, err
	}
	v.policy = at.mark.Number
	v.trials.clear()
	err = at.mayUse(who, space, devices.Write)
	if err == nil { // others of the device's pushes may have come in between
		err = h.quota.mayWrite(at, at.Origin(who.ID), space, h.now())
	}
	if err != nil {
		v.denied = err
		return repository.Judge{}, err
	}
	g := gate.Gate{Policy: at.Policy, Also: h.decide, Space: space, Person: at.personOf, OnTrial: v.trials.add}
	return repository.Judge{
		Admit: gate.Admission{Origin: gate.Members(at.Members, space, who.Person), Now: h.now(), Decide: g.Event}.Admit,
		Raw:   g.Raw,
		Stands: func() (bool, error) {
			now, err := h.pass()
			return now.mark == at.mark && now.Members == at.Members, err
		},
		Taken: func(events int) { h.quota.add(at, at.Origin(who.ID), space, events, h.now()) },
	}, nil
}

// A ruleSet collects the names of rules.
type ruleSet struct {
	mu   sync.Mutex
	list []string
}

func (s *ruleSet) add(rule string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.list, rule) {
		s.list = append(s.list, rule)
	}
}

func (s *ruleSet) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// personOf is whose device it is.
func (p pass) personOf(id event.DeviceID) string {
	d, _ := p.Device(id)
	return d.Person
}

// refusedPush records a push that got no further than its space.
func (h *Hub) refusedPush(who caller, space string, err error) error {
	r := audit.Record{
		Person: who.Person, Device: who.ID, Addr: who.addr, Action: "push", Space: space,
		Verdict: audit.Refused, Rules: []string{ruleOf(err)},
	}
	h.meter.pushed(space, repository.Outcome{Rules: r.Rules}, r.Verdict)
	return errors.Join(err, h.audit.Append(r))
}

// ruleOf is the rule that was broken, or else what kind of failure it was.
func ruleOf(err error) string {
	p := problem.Of(err)
	return cmp.Or(p.Rule, string(p.Code))
}

// mayBeSeen says by which policy an event of the hub's own is judged, and whether
// every machine will show it.
func (h *Hub) mayBeSeen(e event.Event) (number int, ok bool) {
	by := h.builtIn
	if f, err := h.inForce(); err == nil {
		by = f.Policy
	}
	err := by.Decide(e)
	refused, is := errors.AsType[*policy.RefusedError](err)
	return by.Number(), err == nil || is && len(refused.Findings) == 0
}
