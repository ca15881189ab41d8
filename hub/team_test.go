package hub_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/hub"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// follows has the operator put a policy file into force.
func (h *house) follows(rest string) {
	h.t.Helper()
	if _, err := h.Admin().PolicyDesk().Push(context.Background(), []byte("version: 1\nteam: acme\nadmins: [ana]\n"+rest), false); err != nil {
		h.t.Fatal(err)
	}
}

// A device that begins many pushes before the first has landed has no more of
// the hour for it.
func TestPushesThatBeginAtOnceShareTheHour(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.follows("writes_per_hour: 1\n")
	w, other := h.worker("laptop").clone("team"), h.worker("laptop").clone("team")
	w.note("one too many")
	other.note("the first")
	w.hook("pre-push", "cat >/dev/null; git -C '"+other.repo+"' push --quiet origin main:refs/for/main")
	out, err := w.run("push", "origin", "main:refs/for/main")
	if err == nil {
		t.Error("both are taken")
	}
	wants(t, "the hub", out, "as often as the policy allows")
	if head := w.git("-C", h.dir+"/spaces/team.git", "rev-parse", "main"); head != other.git("rev-parse", "main") {
		t.Errorf("the first is not what the hub has: %s", head)
	}
	h.recordsRefusal(hubwire.RuleWrites)
}

// A right ends after a push was judged, and before the branch moves.
func TestARightThatEndsWhileAPushIsJudgedIsGone(t *testing.T) {
	t.Parallel()
	var h *house
	var once sync.Once
	h = open(t, hub.Options{Decide: func(event.Event) error {
		once.Do(func() {
			if _, err := h.Admin().Grant(context.Background(), operator, "ana", "team", devices.Read); err != nil {
				t.Error(err)
			}
		})
		return nil
	}})
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop").clone("team")
	w.note("too late")
	out, err := w.run("push", "origin", "main")
	if err == nil {
		t.Error("it is taken")
	}
	wants(t, "the hub", out, "ana may read the space team and not write")
	h.recordsRefusal(string(problem.HubRefused))
}

// recordsRefusal wants the newest push on record as refused for a reason, the
// same one that it would have had before it began.
func (h *house) recordsRefusal(rule string) {
	h.t.Helper()
	page, err := h.Admin().Records(context.Background(), audit.Filter{Action: "push", Limit: 1})
	if err != nil || len(page.Records) != 1 {
		h.t.Fatalf("%+v, %v", page, err)
	}
	if r := page.Records[0]; r.Verdict != audit.Refused || !slices.Equal(r.Rules, []string{rule}) {
		h.t.Errorf("on record: %+v", r)
	}
}

// Who may not read any more hears of no change, also on a watch that is open.
func TestAnOpenWatchEndsWithTheRight(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Read, "desktop", "team")
	w := h.worker("laptop").clone("team")
	w.note("not for bo")
	lines, ended := h.as("desktop").watch("watch team")
	<-lines
	if _, err := h.Admin().Grant(context.Background(), operator, "bo", "team", devices.None); err != nil {
		t.Fatal(err)
	}
	w.git("push", "--quiet", "origin", "main")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "exit") {
		t.Errorf("the watch ends with %v", err)
	}
	for len(lines) > 0 {
		if l := <-lines; l.Space != "" {
			t.Errorf("bo hears of %+v", l)
		}
	}
}

// What was checked when it was proposed is judged by as it is: reading a file
// once more would prove all its patterns once more.
func TestWhatWasProposedIsNotReadAgainToJudgeByIt(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	proposed, err := h.Admin().Policies.Parse([]byte("version: 1\nteam: acme\nadmins: [ana]\nkinds: [observe]\n"))
	if err != nil {
		t.Fatal(err)
	}
	h.follows("kinds: [observe]\n")
	p, _, err := h.Policy()
	if err != nil || p.Number() != 2 || p.Rules().File() != proposed {
		t.Errorf("version %d: it was read again, %v", p.Number(), err)
	}
}
