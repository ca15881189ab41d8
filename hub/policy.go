package hub

import (
	"context"
	"encoding/json"
	"io"

	"cairn/hub/admin"
	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
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
