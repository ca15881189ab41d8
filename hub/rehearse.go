package hub

import (
	"context"
	"errors"

	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/hub/dryrun"
	"cairn/hub/repository"
	"cairn/internal/hubwire"
	"cairn/policy/rules"
	"cairn/policy/trial"
	"cairn/policy/versions"
)

// toTry lists the spaces on whose events a policy is tried: all but the hub's
// own records. People's own spaces are counted, and none of their events is
// named.
func (h *Hub) toTry(context.Context) ([]dryrun.Space, error) {
	names, err := h.spaces.Names()
	if err != nil {
		return nil, err
	}
	var list []dryrun.Space
	add := func(name, key string, counted bool, r *repository.Repository, err error) {
		if errors.Is(err, repository.ErrNoSpace) {
			return
		}
		s := dryrun.Space{Name: name, Key: key, Counted: counted}
		s.EventsAfter = func(ctx context.Context, from repository.Moment, fn func([]byte) error) (repository.Moment, error) {
			if err != nil {
				return from, err
			}
			return r.EventsAfter(ctx, from, fn)
		}
		list = append(list, s)
	}
	for _, name := range names {
		if name != hubwire.Audit {
			r, err := h.spaces.Shared(name)
			add(name, name, false, r, err)
		}
	}
	m, err := h.members.Now()
	if err != nil {
		return nil, err
	}
	for _, person := range m.People() {
		r, err := h.spaces.PersonalIfMade(person.Name)
		add(hubwire.Personal, hubwire.Personal+"/"+person.Name, true, r, err)
	}
	return list, nil
}

// rehearse tries a file against the policy in force, as the caller may see it.
func (h *Hub) rehearse(by admin.Caller, text []byte) (*admin.Rehearsal, error) {
	at, err := h.pass()
	if err != nil {
		return nil, err
	}
	file, err := h.team.Parse(text)
	if err != nil {
		return nil, err
	}
	prints, err := h.team.Prints()
	if err != nil {
		return nil, err
	}
	key := dryrun.Key{File: versions.HashOf(text), Before: at.mark}
	after := file.Rules(rules.Options{Key: prints, Now: h.now})
	r := &admin.Rehearsal{Trial: h.trials.Try(key, at.Policy, after), MayRead: func(space string) bool {
		return by.Person == "" || at.role(by.Person, space).Allows(devices.Read)
	}}
	var people []string
	for _, m := range at.People() {
		if m.Revoked == nil {
			people = append(people, m.Name)
		}
	}
	r.Rights = trial.Rights(at.Rules(), after, people...)
	return r, nil
}
