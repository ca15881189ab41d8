package admin

import (
	"context"

	"cairn/hub/audit"
	"cairn/hub/devices"
)

// Run carries out a verb that comes as words, as over SSH. Flags may stand
// anywhere; --json is accepted and changes nothing, for every result encodes
// as JSON.
func (a *Admin) Run(ctx context.Context, by Caller, args []string) (Result, error) {
	if len(args) == 0 {
		return nil, unknownVerb("no verb was given")
	}
	verb, ok := map[string]func(context.Context, Caller, []string) (Result, error){
		"invite":  a.runInvite,
		"devices": a.runDevices,
		"revoke":  a.runRevoke,
		"grant":   a.runGrant,
		"spaces":  a.runSpaces,
		"status":  a.runStatus,
		"purge":   a.runPurge,
		"policy":  a.runPolicy,
		"audit":   a.runAudit,
	}[args[0]]
	if !ok {
		return nil, unknownVerb("the hub has no such verb")
	}
	return verb(ctx, by, args[1:])
}

func (a *Admin) runInvite(ctx context.Context, by Caller, args []string) (Result, error) {
	var r InviteRequest
	var role string
	words, err := inviteFlags(&r, &role).words(args, 1, 1)
	if err != nil {
		return nil, err
	}
	r.Person = words[0]
	if r.Role, err = devices.ParseRole(role); err != nil {
		return nil, asProblem(err)
	}
	return result(a.Invite(ctx, by, r))
}

func (a *Admin) runDevices(ctx context.Context, _ Caller, args []string) (Result, error) {
	if _, err := newFlags("devices").words(args, 0, 0); err != nil {
		return nil, err
	}
	return result(a.Everyone(ctx))
}

func (a *Admin) runRevoke(ctx context.Context, by Caller, args []string) (Result, error) {
	words, err := newFlags("revoke").words(args, 1, 1)
	if err != nil {
		return nil, err
	}
	return result(a.Revoke(ctx, by, words[0]))
}

func (a *Admin) runGrant(ctx context.Context, by Caller, args []string) (Result, error) {
	words, err := newFlags("grant").words(args, 3, 3)
	if err != nil {
		return nil, err
	}
	role, err := devices.ParseRole(words[2])
	if err != nil {
		return nil, asProblem(err)
	}
	return result(a.Grant(ctx, by, words[0], words[1], role))
}

func (a *Admin) runSpaces(ctx context.Context, by Caller, args []string) (Result, error) {
	words, err := newFlags("spaces").words(args, 0, 2)
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0:
		return result(a.ListSpaces(ctx))
	case len(words) == 2 && words[0] == "create":
		return result(a.CreateSpace(ctx, by, words[1]))
	}
	return nil, usage("spaces", "spaces is used alone, or with create NAME")
}

func (a *Admin) runStatus(ctx context.Context, _ Caller, args []string) (Result, error) {
	if _, err := newFlags("status").words(args, 0, 0); err != nil {
		return nil, err
	}
	return result(a.Status(ctx))
}

// maxPurge is how many events one call purges.
const maxPurge = 1000

func (a *Admin) runPurge(ctx context.Context, by Caller, args []string) (Result, error) {
	var r PurgeRequest
	var err error
	if r.Events, err = purgeFlags(&r).words(args, 1, maxPurge); err != nil {
		return nil, err
	}
	if r.Space == "" {
		return nil, usage("purge", "say which space with --space")
	}
	return result(a.Purge(ctx, by, r))
}

func (a *Admin) runAudit(ctx context.Context, _ Caller, args []string) (Result, error) {
	var filter audit.Filter
	if _, err := auditFlags(&filter).words(args, 0, 0); err != nil {
		return nil, err
	}
	return result(a.Records(ctx, filter))
}

// result keeps a failed verb from giving half a result.
func result[R Result](r R, err error) (Result, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}
