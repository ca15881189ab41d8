package gate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/secrets/secretstest"
	"cairn/sync/gittree"
	"cairn/sync/intake"
)

func tree(t *testing.T, r *rand.Rand, names ...string) []byte {
	t.Helper()
	var entries []gittree.Entry
	for _, name := range names {
		e := gittree.Entry{Name: name, Mode: filemode.Regular}
		for i := range e.Hash {
			e.Hash[i] = byte(r.Uint32())
		}
		entries = append(entries, e)
	}
	b, err := gittree.Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The ids in a tree are bytes at random; none of them may ever be taken for a
// secret, or one push in a hundred would be refused for nothing.
func TestObjectIdsAreNotSecrets(t *testing.T) {
	t.Parallel()
	g := Gate{Policy: policy.Default()}
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		var names []string
		for range 20 {
			names = append(names, string(event.NewID(time.UnixMilli(r.Int64N(1<<41))))+".json")
		}
		if f := g.Raw(plumbing.TreeObject, tree(t, r, names...)); len(f) > 0 {
			t.Fatalf("findings %+v", f)
		}
	}
}

func TestANameIsScannedAsAName(t *testing.T) {
	t.Parallel()
	g := Gate{Policy: policy.Default()}
	r := rand.New(rand.NewPCG(1, 1))
	secret := ""
	for _, rule := range secretstest.Rules() {
		secret = secretstest.Generate(rule, r)
		if findable(g, secret) {
			break
		}
	}
	for name, data := range map[string][]byte{
		"well formed": tree(t, r, "events", secret),
		"malformed":   append(tree(t, r, "events"), "100644 "+secret+"\x00short"...),
	} {
		f := g.Raw(plumbing.TreeObject, data)
		if !slices.ContainsFunc(f, func(f intake.Finding) bool { return f.Field == "name" && f.Hint != "" }) {
			t.Errorf("%s: findings %+v", name, f)
		}
	}
}

// findable says whether a secret can stand in a name and is found by itself.
func findable(g Gate, secret string) bool {
	_, err := gittree.Encode([]gittree.Entry{{Name: secret, Mode: filemode.Regular, Hash: plumbing.Hash{1}}})
	return err == nil && len(g.Policy.DecideRaw(policy.Ref, []byte(secret))) > 0
}

func TestADecisionBecomesFindings(t *testing.T) {
	t.Parallel()
	g := Gate{Policy: policy.Default()}
	secret := secretstest.Generate(secretstest.Rules()[0], rand.New(rand.NewPCG(1, 1)))
	e := eventtest.Note("the key is " + secret + " and again " + secret)
	e.Tags = []string{secret}
	found := g.Event(e)
	if !slices.ContainsFunc(found, func(f intake.Finding) bool { return f.Field == "payload.content" }) ||
		!slices.ContainsFunc(found, func(f intake.Finding) bool { return f.Field == "tags[0]" }) {
		t.Errorf("findings %+v", found)
	}
	if slices.ContainsFunc(found, func(f intake.Finding) bool { return f.Hint == "" || f.Rule == "" }) {
		t.Errorf("a finding says too little: %+v", found)
	}
	private := eventtest.Note("hello")
	private.Space = "team"
	for name, c := range map[string]struct {
		err  error
		want intake.Finding
	}{
		"nothing":       {nil, intake.Finding{}},
		"wrong class":   {g.Policy.Decide(private), intake.Finding{Rule: "classification", Field: "classification"}},
		"bad form":      {&event.InvalidError{Field: "tags", Reason: "x"}, intake.Finding{Rule: intake.RuleEvent, Field: "tags"}},
		"a problem":     {&problem.Problem{Rule: "r", Field: "f"}, intake.Finding{Rule: "r", Field: "f"}},
		"just an error": {errors.New("no"), intake.Finding{Rule: "policy"}},
	} {
		got := findings(c.err)
		if c.err == nil && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0].Rule != c.want.Rule || got[0].Field != c.want.Field {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
