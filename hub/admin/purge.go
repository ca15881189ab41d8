package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// A PurgeRequest says what to take out of which space, and why.
type PurgeRequest struct {
	Events []string // ids, or unique starts or ends of some, six characters at least
	Space  string   // a shared one, or hubwire.Personal
	Person string   // whose personal space; the caller's own if empty
	Reason string   // for the audit log alone; a line without a secret
}

// maxReason is how long a reason may be, in bytes.
const maxReason = 200

// Purge takes events out of a space for good.
func (a *Admin) Purge(ctx context.Context, by Caller, r PurgeRequest) (Purged, error) {
	if err := a.checkReason(r.Reason); err != nil {
		return Purged{}, err
	}
	repo, err := a.purgeable(by, r)
	if err != nil {
		return Purged{}, err
	}
	done, err := repo.Purge(ctx, repository.PurgeOrder{
		Events: r.Events, By: by.Device, Now: a.Now(), Key: a.Key.Public(), Sign: a.Key.SignBytes,
	})
	record := audit.Record{
		Action: "purge", Space: r.Space, Target: known(r.Person), Reason: r.Reason,
		// If a record before was lost, one that is asked for again names them.
		Events: slices.Concat(done.Events, done.Already),
	}
	switch {
	case err == nil:
		record.Commit = done.Head.String()
	case len(done.Events) > 0:
		record.Verdict = audit.Failed // half done, and not to be undone
	}
	if err := errors.Join(err, a.record(by, record, err)); err != nil {
		return Purged{}, err
	}
	return purgedOf(r.Space, done), nil
}

// purgeable is the space that is meant.
func (a *Admin) purgeable(by Caller, r PurgeRequest) (*repository.Repository, error) {
	if r.Space != hubwire.Personal {
		if r.Person != "" {
			return nil, usage("purge", "--person goes with --space personal")
		}
		repo, err := a.Spaces.Shared(r.Space)
		if err != nil {
			return nil, err
		}
		if err := a.mayAdminister(by, r.Space); err != nil {
			return nil, errors.Join(err, a.record(by, audit.Record{Action: "purge", Space: r.Space, Reason: r.Reason}, err))
		}
		return repo, nil
	}
	person := r.Person
	switch {
	case person == "" && by.Person == "":
		return nil, usage("purge", "say whose personal space with --person")
	case person != "" && by.Person != "" && person != by.Person:
		return nil, &problem.Problem{Code: problem.HubRefused, Message: "the personal space of somebody else is purged on the hub's own machine", Hint: "ask its operator"}
	case person == "":
		person = by.Person
	}
	m, err := a.Members.Now()
	if err != nil {
		return nil, asProblem(err)
	}
	if !slices.ContainsFunc(m.People(), func(p devices.Member) bool { return p.Name == person }) {
		return nil, repository.ErrNoSpace
	}
	return a.Spaces.PersonalIfMade(person)
}

// checkReason keeps out of the audit log what must not be in it.
func (a *Admin) checkReason(reason string) error {
	switch {
	case strings.TrimSpace(reason) == "":
		return usage("purge", "say why with --reason; it goes into the audit log")
	case len(reason) > maxReason || !utf8.ValidString(reason) || strings.ContainsFunc(reason, unicode.IsControl):
		return usage("purge", fmt.Sprintf("a reason is one line of at most %d bytes", maxReason))
	case a.Secret != nil && a.Secret(reason):
		return &problem.Problem{
			Code: problem.Secret, Field: "reason", Message: "the reason holds what looks like a secret: nothing was purged, and it is not repeated here",
			Hint: "give a reason that does not quote what is to go",
		}
	}
	return nil
}

// Purged is what a purge did, and what it cannot do.
type Purged struct {
	Space     string     `json:"space"`
	Epoch     int        `json:"epoch"`
	Events    []event.ID `json:"events"`            // that are gone
	Already   []event.ID `json:"already,omitempty"` // that had been purged before
	Head      string     `json:"head"`
	Undone    string     `json:"undone,omitempty"` // why the bytes are still on the hub's disk
	Unreached []string   `json:"unreached"`        // where they may still be
}

// unreached is what no purge can do anything about.
var unreached = []string{
	"machines that do not sync with this hub any more, until they do",
	"clones by stock git, and plain git remotes: delete or reset them by hand",
	"backups, exports and file-system snapshots, here and on the machines",
	"quotes in other notes, and what people and AI tools have read",
}

func purgedOf(space string, done repository.Purged) Purged {
	p := Purged{Space: space, Epoch: done.Epoch, Events: append([]event.ID{}, done.Events...), Already: done.Already, Head: done.Head.String(), Unreached: unreached}
	if done.Undone != nil {
		p.Undone = done.Undone.Error()
	}
	return p
}

func (p Purged) String() string {
	var b strings.Builder
	for _, id := range p.Events {
		fmt.Fprintf(&b, "Purged %s from %s.\n", id, p.Space)
	}
	for _, id := range p.Already {
		fmt.Fprintf(&b, "%s was purged before.\n", id)
	}
	if p.Undone != "" {
		fmt.Fprintf(&b, "\nNobody gets them any more, but their bytes are still on this hub's disk, and are removed when it can be done: %s\n", p.Undone)
	} else {
		fmt.Fprint(&b, "\nTheir bytes are off this hub's disk. Each machine drops its copy when it next syncs, and keeps its own unsent notes.\n")
	}
	b.WriteString("A purge does not reach:\n")
	for _, line := range p.Unreached {
		b.WriteString("  - " + line + "\n")
	}
	b.WriteString("If it was a secret, change it where it was issued.\n")
	return b.String()
}
