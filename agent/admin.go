package agent

import (
	"context"
	"errors"

	"cairn/internal/config"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/paths"
	"cairn/internal/problem"
	"cairn/sync/replica"
)

// HubAdmin has the hub that a home has joined carry out one of its verbs, and
// returns what the hub prints. The device must be one of an admin's.
func HubAdmin(ctx context.Context, home paths.Home, words []string) (answer []byte, err error) {
	c, err := config.Load(disk.OS, home.Config())
	if errors.Is(err, config.ErrNone) {
		return nil, errNoHub(problem.NoStore)
	}
	if err != nil {
		return nil, asProblem(err)
	}
	if c.Hub == nil {
		return nil, errNoHub(problem.Usage)
	}
	key, err := device.Load(disk.OS, home.DeviceKey())
	if err != nil {
		return nil, asProblem(err)
	}
	hub, err := replica.NewHub(replica.Address{Host: c.Hub.Address, Fingerprint: c.Hub.Fingerprint}, key)
	if err != nil {
		return nil, asProblem(err)
	}
	defer func() { err = errors.Join(err, hub.Close()) }()
	answer, err = hub.Admin(ctx, words)
	return answer, askedProblem(err, "give the command again when the hub can be reached")
}

func errNoHub(code problem.Code) error {
	return &problem.Problem{Code: code, Message: "this machine has joined no hub", Hint: "on the hub's own machine give --data DIR"}
}
