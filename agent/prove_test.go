package agent

import (
	"context"
	"strings"
	"testing"

	"cairn/internal/paths"
)

func TestDoctorNoticesWhatItLooksFor(t *testing.T) {
	t.Parallel()
	r, err := Prove(t.Context())
	if err != nil || !r.OK || len(r.Checks) != len(samples()) {
		t.Errorf("%v: %+v", err, r)
	}
}

// A check that notices nothing is found out, and so is one that is never
// content.
func TestACheckThatNoticesNothingIsFoundOut(t *testing.T) {
	t.Parallel()
	blind := sample{check: "device", what: "nothing is wrong", spoil: func(context.Context, paths.Home) error { return nil }}
	if err := blind.prove(t.Context(), paths.Home(t.TempDir()+"/home")); err == nil || !strings.Contains(err.Error(), "not noticed") {
		t.Errorf("a check without a finding is proven: %v", err)
	}
	unknown := sample{check: "no such check", spoil: detach}
	if err := unknown.prove(t.Context(), paths.Home(t.TempDir()+"/home")); err == nil || !strings.Contains(err.Error(), "not noticed") {
		t.Errorf("a check that does not exist is proven: %v", err)
	}
	ill := paths.Home(t.TempDir() + "/home")
	if _, err := MakeHome(t.Context(), ill, "prove"); err != nil {
		t.Fatal(err)
	}
	if err := missingWords(t.Context(), ill); err != nil {
		t.Fatal(err)
	}
	sure := sample{check: "embedder", spoil: missingWords}
	if err := sure.prove(t.Context(), ill); err == nil || !strings.Contains(err.Error(), "before anything is wrong") {
		t.Errorf("a check that is never content is proven: %v", err)
	}
}
