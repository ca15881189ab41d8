package admin

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"time"

	"cairn/hub/audit"
	"cairn/hub/chronicle"
	"cairn/hub/devices"
	"cairn/hub/policies"
	"cairn/hub/repository"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/problem"
)

// Options are the hub's parts that its verbs work on.
type Options struct {
	Members *devices.Store
	Spaces  *repository.Set
	Audit   *audit.Log
	Hub     event.ID
	HostKey string // fingerprint
	// Key signs the record of a purge and seals the policy; HostKey is its
	// fingerprint.
	Key device.Key
	// Secret says whether a text looks like it holds a secret; nil takes all.
	Secret func(text string) bool
	// Administers says whether the policy lets a person, who is an admin, change
	// who may do what in a space, and purge it; nil lets all.
	Administers func(person, space string) (bool, error)
	// Policies are the versions of the team's policy.
	Policies *policies.Store
	// Changed is called after every change of members, PolicyChanged after a
	// version of the policy came into force.
	Changed       func()
	PolicyChanged func()
	// Explain says why an event is taken or refused, or what a device may do in
	// a space.
	Explain func(context.Context, Caller, []string) ([]hubwire.PolicyStep, error)
	// Rehearse tries a policy file on what the hub has; nil tries none.
	Rehearse func(by Caller, file []byte) (*Rehearsal, error)
	// AuditEvents says how level the audit space is with the log; nil if there is
	// none.
	AuditEvents func(context.Context) chronicle.State
	Now         func() time.Time
}

// An Admin carries out verbs. It is safe for concurrent use.
type Admin struct{ Options }

// New is an Admin for a hub.
func New(o Options) *Admin { return &Admin{o} }

// A Caller is who uses a verb. The zero value is whoever sits at the hub.
type Caller struct {
	Person string
	Device event.DeviceID
	Addr   string
}

// An InviteRequest says whom to invite to what.
type InviteRequest struct {
	Person string
	Spaces []string
	Role   devices.Role
	TTL    time.Duration // devices.DefaultTTL if zero
	Addr   string        // host:port at which the hub will be reached
}

// Invite makes an invite for one machine. Errors are *problem.Problem where
// the caller can do something about them; so everywhere in this package.
func (a *Admin) Invite(ctx context.Context, by Caller, r InviteRequest) (Invited, error) {
	if err := a.mustExist(r.Spaces...); err != nil {
		return Invited{}, err
	}
	if r.TTL == 0 {
		r.TTL = devices.DefaultTTL
	}
	i, err := invite.New(r.Addr, a.HostKey, r.Person)
	if err != nil {
		return Invited{}, usage("invite", "an invite needs a person (lower-case letters, digits and dashes) and --addr HOST:PORT, where the hub is reached")
	}
	key, err := i.Key()
	if err != nil {
		return Invited{}, err
	}
	now := a.Now()
	err = a.change(ctx, by, audit.Record{Action: "invite", Target: r.Person, Space: strings.Join(r.Spaces, ",")}, func(m *devices.Members) error {
		if err := a.mayGive(by, r.Role, r.Spaces...); err != nil {
			return err
		}
		return m.Invite(key.Public().(ed25519.PublicKey), r.Person, r.Spaces, r.Role, now, r.TTL)
	})
	if err != nil {
		return Invited{}, err
	}
	return Invited{Invite: i.Text(), Person: r.Person, Spaces: r.Spaces, Role: r.Role, Expires: event.NewTime(now.Add(r.TTL))}, nil
}

// Revoke shuts out a device or a person, cuts their connections and withdraws
// the person's open invites.
func (a *Admin) Revoke(ctx context.Context, by Caller, who string) (Revoked, error) {
	r := Revoked{Devices: []DeviceInfo{}}
	err := a.change(ctx, by, audit.Record{Action: "revoke", Target: who}, func(m *devices.Members) error {
		for _, i := range m.Invites() {
			if i.Person == who && i.Open(a.Now()) {
				r.Invites++
			}
		}
		shut, err := m.Revoke(who, a.Now())
		for _, d := range shut {
			r.Devices = append(r.Devices, infoOf(d))
		}
		return err
	})
	return r, err
}

// Grant gives a person a role in a space; devices.None takes it away.
func (a *Admin) Grant(ctx context.Context, by Caller, person, space string, role devices.Role) (Granted, error) {
	if err := a.mustExist(space); err != nil {
		return Granted{}, err
	}
	err := a.change(ctx, by, audit.Record{Action: "grant", Target: person, Space: space}, func(m *devices.Members) error {
		if err := a.mayGive(by, role, space); err != nil {
			return err
		}
		return m.Grant(person, space, role)
	})
	return Granted{Person: person, Space: space, Role: role}, err
}

// change changes the members and records that it was done, or refused.
func (a *Admin) change(ctx context.Context, by Caller, r audit.Record, change func(*devices.Members) error) error {
	err := asProblem(a.Members.Change(ctx, change))
	if err == nil {
		a.Changed()
	}
	r.Target = known(r.Target)
	return errors.Join(err, a.record(by, r, err))
}

// CreateSpace makes a shared space.
func (a *Admin) CreateSpace(_ context.Context, by Caller, name string) (SpaceMade, error) {
	repo, err := a.Spaces.Create(name, a.Now())
	rec := a.record(by, audit.Record{Action: "spaces create", Space: known(name)}, err)
	if err := errors.Join(err, rec); err != nil {
		return SpaceMade{}, err
	}
	return SpaceMade{Name: name, ID: repo.Space().ID}, nil
}

// record records an act that ended with err. Its verdict, if it has none yet,
// is that it was done or refused.
func (a *Admin) record(by Caller, r audit.Record, err error) error {
	r.Person, r.Device, r.Addr = by.Person, by.Device, by.Addr
	if by.Person == "" {
		r.Person = audit.Operator
	}
	if err != nil {
		r.Rules = []string{string(problem.Of(err).Code)}
	}
	switch {
	case r.Verdict != "":
	case err != nil:
		r.Verdict = audit.Refused
	default:
		r.Verdict = audit.Done
	}
	return a.Audit.Append(r)
}

// mayGive is an error if the policy takes one of the spaces away from an admin
// in which the role would count: an admin of one is an admin of all.
func (a *Admin) mayGive(by Caller, role devices.Role, spaces ...string) error {
	if role == devices.Admin || slices.Contains(spaces, devices.AllSpaces) {
		names, err := a.Spaces.Names()
		if err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(space string) bool { return space == hubwire.Audit })
		spaces = slices.Concat(spaces, names)
	}
	return a.mayAdminister(by, spaces...)
}

// mayAdminister is an error if the policy takes a space away from an admin.
// Whoever sits at the hub administers all of them.
func (a *Admin) mayAdminister(by Caller, spaces ...string) error {
	if a.Administers == nil || by.Person == "" {
		return nil
	}
	for _, space := range spaces {
		may, err := a.Administers(by.Person, space)
		if err != nil {
			return err
		}
		if !may {
			return &problem.Problem{
				Code: problem.HubRefused, Rule: "policy", Message: "the team's policy does not let you administer the space " + space,
				Hint: "cairn policy show names who may; the hub's operator always may",
			}
		}
	}
	return nil
}

func (a *Admin) mustExist(spaces ...string) error {
	names, err := a.Spaces.Names()
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if s != devices.AllSpaces && !slices.Contains(names, s) {
			return &problem.Problem{
				Code: problem.NotFound, Message: "the hub has no shared space of that name",
				Hint: `"hub spaces" lists them, "hub spaces create NAME" makes one; everyone has a personal space without being given one`,
			}
		}
	}
	return nil
}

// known keeps what a caller made up out of the audit log.
func known(name string) string {
	_, err := event.ParseDeviceID(name)
	if err == nil || invite.ValidPerson(name) || event.ValidSpaceName(name) {
		return name
	}
	return ""
}
