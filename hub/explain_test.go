package hub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// explained asks as the device of that name; an empty name is the operator.
func (h *house) explained(name string, words ...string) error {
	h.t.Helper()
	if name == "" {
		_, err := h.Admin().PolicyDesk().Explain(h.t.Context(), words)
		return err
	}
	question := `{"verb":"` + hubwire.PolicyExplain + `","words":["` + strings.Join(words, `","`) + `"]}`
	return h.as(name).run(question, nil, hubwire.CmdPolicy)
}

// One damaged space keeps nobody from asking about an event in another, and an
// answer that it may be hiding is not given as if it were not there.
func TestADamagedSpaceKeepsNoEventElsewhereFromBeingExplained(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	for _, space := range []string{"aside", "zeal"} {
		if _, err := h.Admin().CreateSpace(t.Context(), admin.Caller{}, space); err != nil {
			t.Fatal(err)
		}
	}
	h.member("ana", devices.Write, "laptop", "team", "aside")
	w := h.worker("laptop").clone("team")
	e := note("team", "laptop", "about this")
	w.append(e)
	w.git("push", "--quiet", "origin", "main")
	for _, space := range []string{"aside", "zeal"} {
		ref := filepath.Join(h.dir, "spaces", space+".git", filepath.FromSlash(event.MainRef))
		if err := os.WriteFile(ref, []byte("no object\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, damaged := range map[string]string{"": "aside, zeal", "laptop": "aside"} {
		for _, words := range [][]string{{string(e.ID)}, {string(e.ID), "team"}, {e.ID.Short(), "team"}, {string(e.ID)[:20]}} {
			if err := h.explained(name, words...); err != nil {
				t.Errorf("%q about %v: %v", name, words, err)
			}
		}
		other := string(note("team", "laptop", "not stored").ID)
		err := h.explained(name, other)
		if code(err) != problem.NotFound || !strings.HasSuffix(message(err), "not looked through: "+damaged) {
			t.Errorf("%q about an event that is not found: %v", name, err)
		}
		if err := h.explained(name, other, "aside"); code(err) != problem.GarbledRef {
			t.Errorf("%q about an event in a damaged space: %v", name, err)
		}
	}
	if err := h.explained("laptop", string(e.ID), "zeal"); code(err) != problem.NotFound {
		t.Errorf("in a space that she may not read: %v", err)
	}
}
