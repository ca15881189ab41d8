package hub

import (
	"context"
	"fmt"

	"cairn/policy"
	"cairn/policy/rules"
)

// Policy is what is in force at this moment: the built-in gate, and the team's
// file if there is one.
func (h *Hub) Policy() (*policy.Policy, error) {
	active, err := h.team.Active()
	if err != nil || active == nil {
		return policy.Default(), err
	}
	file, err := rules.Parse(active.Text)
	if err != nil {
		return nil, fmt.Errorf("version %d of the policy: %w", active.Version.Number, err)
	}
	r, err := file.Compile(rules.Options{Key: h.FingerprintKey(), Now: h.now})
	if err != nil {
		return nil, err
	}
	return policy.With(active.Version.Number, r), nil
}

// FingerprintKey is the team's key for the fingerprints of values. It follows
// from the hub's own key and is for members only.
func (h *Hub) FingerprintKey() []byte { return rules.FingerprintKey(h.key.SignBytes) }

// Events calls fn with the stored bytes of every event of a shared space, in
// the order of their ids. A damaged one is the error it ends with.
func (h *Hub) Events(ctx context.Context, space string, fn func([]byte) error) error {
	repo, err := h.spaces.Shared(space)
	if err != nil {
		return err
	}
	return repo.Events(ctx, fn)
}
