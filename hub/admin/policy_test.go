package admin_test

import (
	"encoding/json"
	"errors"
	"os"
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
	o.Policies = policies.Open(disk.OS, filepath.Join(o.dir, "policy"), o.Options.Hub, o.Key, func(versions.Approval) (bool, error) { return true, nil }, o.Now)
	o.PolicyChanged = func() { *told++ }
	return o, told
}

const policyFile = "version: 1\nteam: acme\nadmins: [ana]\n"

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

// A version that is in force is told to those who wait for it, also if it could
// not be written to the audit log.
func TestAVersionInForceIsToldThoughItsRecordIsLost(t *testing.T) {
	o, told := ruled(t)
	if err := os.Mkdir(filepath.Join(o.dir, "audit", now.Format("2006-01")+".jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := o.PolicyDesk().Push(t.Context(), []byte(policyFile), false); err == nil {
		t.Error("the lost record is not told")
	}
	if active, err := o.Policies.Active(); err != nil || active == nil {
		t.Fatalf("in force is %+v, %v", active, err)
	}
	if *told != 1 {
		t.Errorf("told %d times", *told)
	}
}

// A proposal that cannot be read is not one that is not there.
func TestAProposalThatCannotBeReadIsTold(t *testing.T) {
	o, _ := ruled(t)
	if _, err := o.PolicyDesk().Push(t.Context(), []byte(policyFile), false); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(o.dir, "policy", "proposal.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := o.Policy(t.Context(), admin.Caller{}, hubwire.PolicyRequest{Verb: hubwire.PolicyShow, Number: 9})
	if err == nil || problem.Of(err).Code == problem.NotFound {
		t.Errorf("%v", err)
	}
}

// Where the policy in force cannot be judged by, nothing can be tried; the next
// version mends that, and is not kept back by it.
func TestAVersionThatCannotBeTriedIsTakenUnlessItMustBe(t *testing.T) {
	o, _ := ruled(t)
	o.Rehearse = func(admin.Caller, []byte) (*admin.Rehearsal, error) { return nil, errors.New("not understood") }
	strict := o.PolicyDesk()
	strict.Trying.Strict = true
	if _, err := strict.Push(t.Context(), []byte(policyFile), false); err == nil {
		t.Error("a strict one is taken untried")
	}
	if c, err := o.PolicyDesk().Push(t.Context(), []byte(policyFile), false); err != nil || c.Trial != nil {
		t.Errorf("%+v, %v", c, err)
	}
	o.Rehearse = nil
	if _, err := strict.Push(t.Context(), []byte(policyFile+"approvals: 1\n"), false); err == nil {
		t.Error("a strict one is taken where nothing is tried")
	}
}
