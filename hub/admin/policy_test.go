package admin_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"cairn/hub/admin"
	"cairn/hub/policies"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/versions"
)

// ruled is an office that looks after a policy, and counts the versions that
// it was told of.
func ruled(t *testing.T) (o *office, told *int) {
	t.Helper()
	o, told = opened(t), new(int)
	o.Options.Hub = event.NewID(now)
	o.HostKey = hubwire.Fingerprint(o.Key.Public())
	o.Policies = policies.Open(disk.OS, filepath.Join(o.dir, "policy"), o.Options.Hub, o.Key, func(versions.Approval) (bool, error) { return true, nil })
	o.PolicyChanged = func() { *told++ }
	return o, told
}

func TestAPolicyProblemIsWordedOnce(t *testing.T) {
	o, _ := ruled(t)
	signed, err := json.Marshal(versions.Approval{Person: versions.Operator})
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Policy(t.Context(), admin.Caller{}, hubwire.PolicyRequest{Verb: hubwire.PolicyApprove, Number: 9, Approval: signed})
	if p := problem.Of(err); p.Code != problem.NotFound || strings.Count(p.Message, "nothing was changed") != 1 {
		t.Errorf("%+v", p)
	}
}
