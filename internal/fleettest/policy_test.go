package fleettest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/audit"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/problem"
	"cairn/policy/desk"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// policyFile is a file of a team with ana and bob as its admins.
func policyFile(approvals int, rest string) []byte {
	return fmt.Appendf(nil, "version: 1\nteam: acme\nadmins: [ana, bob]\napprovals: %d\n%s", approvals, rest)
}

// pattern refuses tickets of a number.
func pattern(id, prefix string) string {
	return fmt.Sprintf("secrets:\n  patterns:\n    - id: %s\n      match: '%s-[0-9]{6}'\n      contains: %s-\n      like: '%s-[0-9]{6}'\n", id, prefix, prefix, prefix)
}

// push has the operator push a policy file that is in force at once.
func push(t *testing.T, f *fleettest.Fleet, file []byte) desk.Changed {
	t.Helper()
	c, err := f.Hub().Admin().PolicyDesk().Push(t.Context(), file, false)
	if err != nil || c.State != desk.Active {
		t.Fatalf("push the policy: %+v, %v", c, err)
	}
	return c
}

// number waits until a machine applies a version.
func number(t *testing.T, f *fleettest.Fleet, m *fleettest.Machine, want int) {
	t.Helper()
	f.Until(fmt.Sprintf("version %d is in force on the machine", want), func() bool {
		p := policyState(t, m)
		return p != nil && p.Number == want
	})
}

func policyState(t *testing.T, m *fleettest.Machine) *api.PolicyState {
	t.Helper()
	s, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Policy
}

// refusedBy saves a note, which must be refused by the rule.
func refusedBy(t *testing.T, m *fleettest.Machine, space, text, rule string) {
	t.Helper()
	_, err := m.Remember(t.Context(), fleettest.Note(space, text))
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Rule != rule {
		t.Errorf("%q: %v, want a refusal by %s", text, err, rule)
	}
}

func numberOf(t *testing.T, m *fleettest.Machine, id event.ID) int {
	t.Helper()
	e, err := event.Decode(raw(t, m, id))
	if err != nil {
		t.Fatal(err)
	}
	return e.Policy
}

// An admin pushes a policy with a rule of the team's own. The other machine
// refuses by it, before git, after one sync; off line it goes on doing so.
func TestAPolicyReachesEveryMachineAndStays(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	before := b.Note("team", "a note on ACME-111111")
	a.Has("team", "a note on ACME-111111")
	if n := numberOf(t, b, before); n != 1 {
		t.Errorf("the first event carries %d", n)
	}
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")))
	if _, err := b.Sync(t.Context(), api.SyncRequest{}); err != nil {
		t.Fatal(err)
	}
	refusedBy(t, b, "team", "look at ACME-123456", "acme-ticket")
	refusedBy(t, b, "personal", "look at ACME-123456", "acme-ticket")
	number(t, f, a, 2) // told by the watch alone
	refusedBy(t, a, "team", "look at ACME-123456", "acme-ticket")
	after := b.Note("team", "nothing special")
	a.Has("team", "nothing special") // what the pattern finds in older notes is withheld
	if n := numberOf(t, b, after); n != 2 {
		t.Errorf("the next event carries %d", n)
	}
	local := b.Note("local", "ACME-123456 stays here")
	if numberOf(t, b, local) != 1 {
		t.Error("the team has a say in what never leaves the machine")
	}
	f.StopHub()
	b.Stop()
	b.Start()
	refusedBy(t, b, "team", "look at ACME-123456", "acme-ticket")
	if c := check(t, b, "policy"); !c.OK || !strings.Contains(c.Detail, "version 2 of team acme") {
		t.Errorf("doctor says %+v", c)
	}
}

// A machine that was away saves what the new policy refuses. The hub refuses
// that alone, it is listed, and its words can be saved again in another form.
func TestAStaleMachinesNoteIsRefusedAtTheHub(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Wired("b", "bob")
	b.Note("team", "before")
	a.Has("team", "before")
	b.Line.Cut()
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")+"limits:\n  event: 4KiB\n"))
	draft := fleettest.Note("team", "look at ACME-123456")
	draft.Key = "ticket"
	if _, err := b.Remember(t.Context(), draft); err != nil {
		t.Fatal(err)
	}
	b.Note("team", strings.Repeat("a long story ", 500))
	b.Note("team", "harmless")
	b.Line.Mend()
	a.Has("team", "before", "harmless")
	var list []api.Refusal
	f.Until("both are listed", func() bool {
		var err error
		list, err = b.Refused(t.Context())
		return err == nil && len(list) == 2 && list[0].By == "hub" && list[1].By == "hub"
	})
	for _, r := range list {
		if r.By != "hub" || !slices.Contains([]string{"acme-ticket", "event-size"}, r.Rule) || r.Hint == "" {
			t.Errorf("listed %+v", r)
		}
	}
	draft.Payload = &event.Observe{Content: "look at the ticket of that customer"}
	if _, err := b.Remember(t.Context(), draft); err != nil {
		t.Errorf("its key is not free: %v", err)
	}
	a.Has("team", "before", "harmless", "look at the ticket of that customer")
}

// A hub's folder is restored from a backup that lacks the newest version. Every
// machine keeps what it has, and says so; history and notes go on.
func TestAHubThatWentBackIsNoticed(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")))
	folder := filepath.Join(f.HubDir(), "policy")
	backup := filepath.Join(t.TempDir(), "backup")
	copyFolder(t, folder, backup)
	push(t, f, policyFile(1, pattern("passing-ticket", "PASSING")))
	push(t, f, policyFile(1, pattern("other-ticket", "OTHER")))
	number(t, f, b, 4)
	number(t, f, a, 4)
	f.StopHub()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, backup, folder)
	f.StartHub()
	f.Until("the machine says so", func() bool {
		p := policyState(t, b)
		return p.Number == 4 && strings.Contains(p.Problem, "version 2")
	})
	if c := check(t, b, "policy"); c.OK || c.Fix == "" {
		t.Errorf("doctor says %+v", c)
	}
	refusedBy(t, b, "team", "look at OTHER-123456", "other-ticket")
	b.Note("team", "notes go on")
	a.Has("team", "notes go on")
	b.Stop()
	b.Start()
	refusedBy(t, b, "team", "look at OTHER-123456", "other-ticket")

	// Another version 4 is not the one that was there.
	push(t, f, policyFile(1, pattern("third-ticket", "THIRD")))
	push(t, f, policyFile(1, pattern("fourth-ticket", "FOURTH")))
	push(t, f, policyFile(1, pattern("fifth-ticket", "FIFTH")))
	f.Until("the machine says so", func() bool {
		p := policyState(t, b)
		return p.Number == 4 && strings.Contains(p.Problem, "does not follow")
	})
	refusedBy(t, b, "team", "look at OTHER-123456", "other-ticket")
	// A machine that comes new has no other past to hold against it.
	c := f.Joined("c", "cy")
	number(t, f, c, 5)
}

// A backup that lacks just the newest version: the machines give it back.
func TestALostPolicyComesBackFromTheMachines(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	b := f.Joined("b", "bob")
	push(t, f, policyFile(2, pattern("acme-ticket", "ACME")))
	number(t, f, b, 2)
	f.StopHub()
	if err := os.RemoveAll(filepath.Join(f.HubDir(), "policy")); err != nil {
		t.Fatal(err)
	}
	f.StartHub()
	f.Until("the hub has it again", func() bool {
		s, err := f.Hub().Admin().PolicyDesk().Show(t.Context(), 0)
		return err == nil && s.Number == 2 && strings.Contains(s.Text, "acme-ticket")
	})
	f.Until("nothing is wrong", func() bool { p := policyState(t, b); return p.Number == 2 && p.Problem == "" })
	c := f.Joined("c", "cy")
	number(t, f, c, 2)
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// Two must sign, each on their own machine. The hub dies in between.
func TestTwoAdminsSignOnTheirOwnMachines(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b, c := f.Joined("a", "ana"), f.Joined("b", "bob"), f.Joined("c", "cy")
	push(t, f, policyFile(2, ""))
	number(t, f, a, 2)
	at := func(m *fleettest.Machine) desk.Desk { return deskOf(t, m) }
	next := policyFile(2, pattern("acme-ticket", "ACME"))
	proposed, err := at(a).Push(t.Context(), next, false)
	if err != nil || proposed.State != desk.Waiting || proposed.Missing != 1 {
		t.Fatalf("proposed: %+v, %v", proposed, err)
	}
	b.Note("team", "ACME-123456 is not refused yet")
	f.StopHub()
	f.StartHub()
	if again, err := at(a).Approve(t.Context(), 3, ""); err != nil || again.Missing != 1 {
		t.Errorf("one admin twice: %+v, %v", again, err)
	}
	if _, err := at(c).Approve(t.Context(), 3, ""); problem.Of(err).Code != problem.HubRefused {
		t.Errorf("by somebody who is no admin: %v", err)
	}
	liar := at(c)
	liar.Person = "bob"
	if _, err := liar.Approve(t.Context(), 3, ""); problem.Of(err).Code != problem.HubRefused {
		t.Errorf("under another's name: %v", err)
	}
	done, err := at(b).Approve(t.Context(), 3, proposed.Hash[:8])
	if err != nil || done.State != desk.Active {
		t.Fatalf("approved: %+v, %v", done, err)
	}
	number(t, f, b, 3)
	refusedBy(t, b, "team", "look at ACME-123456", "acme-ticket")
	back, err := at(b).Rollback(t.Context(), 2, false)
	if err != nil || back.State != desk.Waiting {
		t.Fatalf("going back: %+v, %v", back, err)
	}
	if back, err = at(a).Rollback(t.Context(), 2, false); err != nil || back.State != desk.Active || back.Number != 4 || back.Restores != 2 {
		t.Fatalf("going back: %+v, %v", back, err)
	}
	number(t, f, b, 4)
	b.Note("team", "ACME-654321 passes again")
	log, err := at(c).Log(t.Context())
	if err != nil || len(log.Versions) != 3 || log.Versions[0].Number != 4 || len(log.Versions[0].Approved) != 2 {
		t.Errorf("the log: %+v, %v", log, err)
	}
}

// Whoever was shut out after they signed has not signed.
func TestASignatureOfWhoWasShutOutDoesNotCount(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	push(t, f, policyFile(2, ""))
	next := policyFile(2, "kinds: [claim]\n")
	if c, err := deskOf(t, a).Push(t.Context(), next, false); err != nil || c.State != desk.Waiting {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := f.Hub().Admin().Run(t.Context(), admin.Caller{}, []string{"revoke", "ana"}); err != nil {
		t.Fatal(err)
	}
	if _, err := deskOf(t, b).Approve(t.Context(), 3, ""); problem.Of(err).Code != problem.NotFound {
		t.Errorf("approved: %v", err)
	}
	if c, err := deskOf(t, b).Push(t.Context(), policyFile(1, ""), true); err != nil || c.State != desk.Waiting {
		t.Errorf("put in its place: %+v, %v", c, err)
	}
	if c, err := f.Hub().Admin().PolicyDesk().Approve(t.Context(), 3, ""); err != nil || c.State != desk.Active {
		t.Errorf("the operator and bob: %+v, %v", c, err)
	}
}

// The policy changes while a push is being judged. What counts is the one that
// is in force when the branch moves.
func TestThePolicyOfTheMomentDecides(t *testing.T) {
	var f *fleettest.Fleet
	var once sync.Once
	f = fleettest.Start(t, hub.Options{Decide: func(e event.Event) error {
		if e.Space == "team" && e.Payload.Body() == "under way" {
			once.Do(func() { push(t, f, policyFile(1, "kinds: [claim, lesson]\n")) })
		}
		return nil
	}})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	a.Note("team", "under way")
	f.Until("it is refused", func() bool {
		list, err := a.Refused(t.Context())
		return err == nil && len(list) == 1 && list[0].Rule == "kind"
	})
	f.Until("it is on record as refused by version 2", func() bool {
		page, err := f.Hub().Admin().Records(t.Context(), audit.Filter{Action: "push", Space: "team"})
		return err == nil && len(page.Records) == 1 && page.Records[0].Verdict == audit.Refused && page.Records[0].Policy == 2
	})
	b.Has("team")
	head, err := fleettest.HeadOf(filepath.Join(f.HubDir(), "spaces", "team.git"), "team")
	if err != nil {
		t.Fatal(err)
	}
	f.Until("nothing of it is in the log", func() bool { s := space(t, a, "team"); return s.Ahead == 0 && s.Head == head })
}

// A pattern on trial refuses nothing, and the hub's record says what it would
// have refused.
func TestAPatternOnTrialIsOnRecord(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	until := time.Now().AddDate(0, 1, 0).Format("2006-01-02")
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")+"      stage: report\n      until: "+until+"\n"))
	number(t, f, a, 2)
	a.Note("team", "look at ACME-123456")
	f.Until("it is taken", func() bool { return space(t, a, "team").Ahead == 0 })
	page, err := f.Hub().Admin().Records(t.Context(), audit.Filter{Action: "push", Space: "team"})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Records) == 0 || !slices.Equal(page.Records[0].OnTrial, []string{"acme-ticket"}) || page.Records[0].Policy != 2 {
		t.Errorf("on record: %+v", page.Records)
	}
	if text := page.String(); !strings.Contains(text, "acme-ticket (on trial)") {
		t.Errorf("a person reads of no trial:\n%s", text)
	}
}

// Whoever wonders why is told rule by rule.
func TestAPolicyIsExplained(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	id := a.Note("team", "look at ACME-123456")
	b.Has("team", "look at ACME-123456")
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")+"kinds: [claim]\nspaces:\n  team:\n    read: [\"*\"]\n    write: [ana]\n"))
	number(t, f, b, 2)
	verdicts := func(d desk.Desk, words ...string) map[string]string {
		t.Helper()
		e, err := d.Explain(t.Context(), words)
		if err != nil || e.Number != 2 {
			t.Fatalf("%v: %+v, %v", words, e, err)
		}
		out := map[string]string{}
		for _, s := range e.Steps {
			out[s.Rule] = s.Verdict
			if s.Verdict == rules.Refuses && s.Line == 0 && s.Rule != "member" {
				t.Errorf("%v: %s names no line", words, s.Rule)
			}
		}
		return out
	}
	for _, d := range []desk.Desk{f.Hub().Admin().PolicyDesk(), deskOf(t, b)} {
		for _, words := range [][]string{{string(id)}, {string(id), "team"}, {id.Short()}} {
			v := verdicts(d, words...)
			if v["acme-ticket"] != rules.Refuses || v["kind"] != rules.Refuses || v["no-right"] != rules.Allows || v["harness"] != rules.Silent || v["member"] != rules.Allows {
				t.Errorf("the event, as %v: %v", words, v)
			}
		}
		v := verdicts(d, device(t, b), "team")
		if v["read"] != rules.Allows || v["write"] != rules.Refuses || v["member"] != rules.Allows {
			t.Errorf("the device: %v", v)
		}
	}
	if v := verdicts(f.Hub().Admin().PolicyDesk(), device(t, a), "team"); v["write"] != rules.Allows || v["admin"] != rules.Refuses {
		t.Errorf("an admin of the policy who may only write there as a member: %v", v)
	}
	if _, err := deskOf(t, b).Explain(t.Context(), []string{device(t, a), "team"}); problem.Of(err).Code != problem.HubRefused {
		t.Errorf("about another's device: %v", err)
	}
	for _, words := range [][]string{{string(event.NewID(time.Now()))}, {string(id), "personal"}, {"someone", "team"}} {
		if _, err := deskOf(t, b).Explain(t.Context(), words); problem.Of(err).Code != problem.NotFound {
			t.Errorf("%v: %v", words, err)
		}
	}
}

func deskOf(t *testing.T, m *fleettest.Machine) desk.Desk {
	t.Helper()
	d, done, err := agent.PolicyDesk(m.Home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Rights in a file take away what membership gives, and give nothing.
func TestAPolicyOnlyTakesRightsAway(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	if _, err := f.Hub().Admin().Run(t.Context(), admin.Caller{}, []string{"spaces", "create", "ops"}); err != nil {
		t.Fatal(err)
	}
	a.Note("team", "hello")
	b.Has("team", "hello")
	push(t, f, policyFile(1, "spaces:\n  team:\n    read: [\"*\"]\n    write: [ana]\n  ops:\n    read: [bob]\n    write: [bob]\n"))
	b.Note("team", "bob may not")
	f.Until("bob's push is refused", func() bool {
		s := space(t, b, "team")
		return strings.Contains(s.LastError, "may read the space team and not write to it") || s.Ahead == 0
	})
	a.Note("team", "ana may")
	b.Has("team", "hello", "ana may", "bob may not")
	a.Has("team", "hello", "ana may")
	spaces, err := b.Remotes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(spaces, func(r api.Remote) bool { return r.Space == "ops" }) {
		t.Error("a policy made somebody a member of a space")
	}
}

// What is kept of the policy and of the list of devices is damaged. The machine
// says so, and has both again after a sync.
func TestWhatIsDamagedOfTheHubIsBroughtAgain(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	b := f.Joined("b", "bob")
	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")))
	number(t, f, b, 2)
	b.Stop()
	f.StopHub()
	for _, path := range []string{b.Home.Policy(), b.Home.Members()} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Fatalf("%s is not there to be damaged: %v", path, err)
		}
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Start()
	for _, name := range []string{"policy", "members"} {
		if c := check(t, b, name); c.OK || c.Fix != "cairn sync" {
			t.Errorf("doctor says %+v", c)
		}
	}
	f.StartHub()
	number(t, f, b, versions.First)
	refusedBy(t, b, "team", "look at ACME-123456", "acme-ticket")
	for _, name := range []string{"policy", "members"} {
		if c := check(t, b, name); !c.OK {
			t.Errorf("doctor says %+v", c)
		}
	}
}

// A machine is stolen and signs a policy. Once it is revoked nothing of its is
// left to approve.
func TestWhatAStolenMachineProposedIsGoneWithIt(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	push(t, f, policyFile(2, ""))
	number(t, f, b, 2)
	next := policyFile(2, pattern("acme-ticket", "ACME"))
	if c, err := deskOf(t, a).Push(t.Context(), next, false); err != nil || c.State != desk.Waiting {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := f.Hub().Admin().Revoke(t.Context(), admin.Caller{}, device(t, a)); err != nil {
		t.Fatal(err)
	}
	if c, err := deskOf(t, b).Approve(t.Context(), 3, ""); problem.Of(err).Code != problem.NotFound {
		t.Errorf("it is approved: %+v, %v", c, err)
	}
	if c, err := deskOf(t, b).Push(t.Context(), next, false); err != nil || c.State != desk.Waiting || c.Missing != 1 {
		t.Errorf("signed anew: %+v, %v", c, err)
	}
}
