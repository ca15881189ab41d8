package hub

import (
	"context"

	"cairn/policy"
)

// Policy is what is in force at this moment, and the team's key for
// fingerprints, nil before the first version.
func (h *Hub) Policy() (*policy.Policy, []byte, error) {
	f, err := h.inForce()
	if err != nil {
		return nil, nil, err
	}
	prints, err := h.team.Prints()
	return f.Policy, prints, err
}

// Events calls fn with the stored bytes of every event of a shared space, in
// the order of their ids. A damaged one is the error it ends with.
func (h *Hub) Events(ctx context.Context, space string, fn func([]byte) error) error {
	repo, err := h.spaces.Shared(space)
	if err != nil {
		return err
	}
	return repo.Events(ctx, fn)
}
