package agent

import (
	"context"
	"errors"
	"time"

	"cairn/agent/hubstate"
	"cairn/agent/teampolicy"
	"cairn/internal/config"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/internal/paths"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/desk"
	"cairn/sync/replica"
)

// HubAdmin has the hub that a home has joined carry out one of its verbs, and
// returns what the hub prints. The device must be one of an admin's.
func HubAdmin(ctx context.Context, home paths.Home, words []string) (answer []byte, err error) {
	m, err := openMember(home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.hub.Close()) }()
	answer, err = m.hub.Admin(ctx, words)
	return answer, askedProblem(err, askAgain)
}

// PolicyDesk is where the person of a home looks after the policy of the hub
// that the home has joined. It signs with the home's device key. The caller
// closes it.
func PolicyDesk(home paths.Home) (_ desk.Desk, closeDesk func() error, err error) {
	m, err := openMember(home)
	if err != nil {
		return desk.Desk{}, nil, err
	}
	return desk.Desk{
		Ask: func(ctx context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
			answer, err := m.hub.Policy(ctx, r)
			return answer, askedProblem(err, askAgain)
		},
		HostKey: m.config.Hub.Fingerprint, Person: m.config.Person, Key: m.key, Now: time.Now,
	}, m.hub.Close, nil
}

// TeamPolicy is what a home judges by in the spaces of its hub, and the team's
// key for fingerprints, nil without a team's policy. The error is a problem if
// what is kept of the policy is damaged.
func TeamPolicy(home paths.Home) (*policy.Policy, []byte, error) {
	k := teampolicy.Open(disk.OS, home.Policy(), time.Now)
	if damaged, ok := errors.AsType[*hubstate.DamagedError](k.State().Trouble); ok {
		return nil, nil, &problem.Problem{Code: problem.Corrupt, Message: damaged.Error(), Hint: "cairn sync brings it again", Err: damaged}
	}
	return k.Policy(), k.Prints(), nil
}

// KeptPolicy is the policy that a home applies, as its agent had it from the hub
// last; false for the built-in rules.
func KeptPolicy(home paths.Home) (desk.Shown, bool) {
	v, file, ok := teampolicy.Open(disk.OS, home.Policy(), time.Now).Version()
	if !ok {
		return desk.Shown{}, false
	}
	return desk.ShownOf(v, file), true
}

const askAgain = "give the command again when the hub can be reached"

// A member is a home that has joined a hub, for one question to it.
type member struct {
	config config.Config
	key    device.Key
	hub    *replica.Hub
}

// openMember reads a home, beside whoever owns it. The caller closes the hub.
func openMember(home paths.Home) (member, error) {
	c, err := config.Load(disk.OS, home.Config())
	if errors.Is(err, config.ErrNone) {
		return member{}, errNoHub(problem.NoStore)
	}
	if err != nil {
		return member{}, asProblem(err)
	}
	if c.Hub == nil {
		return member{}, errNoHub(problem.Usage)
	}
	key, err := device.Load(disk.OS, home.DeviceKey())
	if err != nil {
		return member{}, asProblem(err)
	}
	hub, err := replica.NewHub(replica.Address{Host: c.Hub.Address, Fingerprint: c.Hub.Fingerprint}, key)
	if err != nil {
		return member{}, asProblem(err)
	}
	return member{config: c, key: key, hub: hub}, nil
}

func errNoHub(code problem.Code) error {
	return &problem.Problem{Code: code, Message: "this machine has joined no hub", Hint: "cairn join INVITE joins one, until then only the built-in rules count; on the hub's own machine give --data DIR"}
}
