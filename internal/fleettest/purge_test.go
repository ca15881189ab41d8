package fleettest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/problem"
	"cairn/sync/purge/purgetest"
)

// word is one that stands nowhere by chance.
func word() string { return fmt.Sprintf("zq%016x", rand.Uint64()) }

func purge(t *testing.T, f *fleettest.Fleet, ids ...event.ID) admin.Purged {
	t.Helper()
	r := admin.PurgeRequest{Space: "team", Reason: "it should not be there"}
	for _, id := range ids {
		r.Events = append(r.Events, string(id))
	}
	done, err := f.Hub().Admin().Purge(t.Context(), admin.Caller{}, r)
	if err != nil || done.Undone != "" {
		t.Fatalf("purge: %v %s", err, done.Undone)
	}
	return done
}

// rid waits until no byte of the words is anywhere in the home of a machine.
func rid(f *fleettest.Fleet, t *testing.T, m *fleettest.Machine, words ...string) {
	t.Helper()
	var left []string
	defer func() {
		if t.Failed() {
			t.Logf("left: %v", left)
		}
	}()
	f.Until("nothing is left on the machine", func() bool {
		left = purgetest.Traces(t, string(m.Home), words...)
		return len(left) == 0
	})
}

func fsck(t *testing.T, dir string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("SKIPPED: no git on this machine, so fsck was not run")
		return
	}
	if out, err := exec.Command(git, "-C", dir, "fsck", "--strict", "--full").CombinedOutput(); err != nil {
		t.Errorf("git fsck %s: %v\n%s", dir, err, out)
	}
}

// A secret got into the team's space. An admin purges it: it is gone from the
// hub at once, from the machines that are there as soon as they hear of it, and
// from one that slept through this purge and another when it wakes up. What
// that one had not sent before it slept arrives all the same.
func TestAPurgedNoteIsGoneFromEveryMachine(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b, sleeper := f.Joined("a", "ana"), f.Joined("b", "bo"), f.Joined("sleeper", "ana")
	first, second := word(), word()
	a.Note("team", "kept from the start")
	leaked := a.Note("team", "the code is "+first)
	more := b.Note("team", "another code is "+second)
	a.Note("team", "kept from later")
	all := []string{"kept from the start", "the code is " + first, "another code is " + second, "kept from later"}
	for _, m := range []*fleettest.Machine{a, b, sleeper} {
		m.Has("team", all...)
		if len(purgetest.Traces(t, string(m.Home), first)) == 0 {
			t.Fatal("the search does not find the word in the first place")
		}
	}

	f.StopHub()
	unsent := sleeper.Note("team", "saved on the road")
	before := string(raw(t, sleeper, unsent))
	sleeper.Stop()
	f.StartHub()

	done := purge(t, f, leaked)
	if !slices.Equal(done.Events, []event.ID{leaked}) || done.Epoch != 1 || len(done.Unreached) == 0 {
		t.Errorf("the purge says %+v", done)
	}
	if left := purgetest.Traces(t, f.HubDir(), first); len(left) > 0 {
		t.Errorf("left at the hub: %v", left)
	}
	rest := []string{"kept from the start", "another code is " + second, "kept from later"}
	for _, m := range []*fleettest.Machine{a, b} {
		m.Has("team", rest...)
		rid(f, t, m, first)
	}
	b.Note("team", "kept from between")
	a.Has("team", append(rest, "kept from between")...)
	purge(t, f, more)

	sleeper.Start()
	want := []string{"kept from the start", "kept from later", "kept from between", "saved on the road"}
	for _, m := range []*fleettest.Machine{sleeper, a, b} {
		m.Has("team", want...)
		rid(f, t, m, first, second)
		m.Finds("road", "saved on the road")
	}
	if left := purgetest.Traces(t, f.HubDir(), first, second); len(left) > 0 {
		t.Errorf("left at the hub: %v", left)
	}
	if got := string(raw(t, a, unsent)); got != before {
		t.Errorf("the unsent note arrived as\n%s\nand was\n%s", got, before)
	}
	heads(t, f, "team", a, b, sleeper)
	for _, dir := range []string{filepath.Join(f.HubDir(), "spaces", "team.git"), a.Home.Space("team"), sleeper.Home.Space("team")} {
		fsck(t, dir)
	}
	saysSo(t, f, a)
}

// saysSo looks for what status and doctor say of two purges of one event each.
func saysSo(t *testing.T, f *fleettest.Fleet, m *fleettest.Machine) {
	t.Helper()
	if s := space(t, m, "team"); s.Purged != 2 || s.PurgedAt == nil || s.LastError != "" {
		t.Errorf("status says %+v", s)
	}
	f.Until("doctor is content", func() bool {
		report, err := m.Doctor(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(report.Checks, func(c api.Check) bool { return c.Name == "purged team" })
		return i >= 0 && report.Checks[i].OK && strings.Contains(report.Checks[i].Detail, "2 events")
	})
}

// What was purged cannot be imported again, and a plain remote that still has it
// is not listened to.
func TestWhatWasPurgedStaysAway(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	secret := word()
	backup := filepath.Join(t.TempDir(), "backup.git")
	link(t, a, backup)
	leaked := a.Note("team", "the code is "+secret)
	a.Note("team", "kept")
	exchange(t, a)
	file := raw(t, a, leaked)
	purge(t, f, leaked)
	a.Has("team", "kept")
	rid(f, t, a, secret)

	results, err := a.Import(t.Context(), []api.Draft{{Stored: file}})
	if err != nil || len(results) != 1 || results[0].Problem == nil || results[0].Problem.Code != problem.Policy || results[0].Problem.Rule != "purged" {
		t.Errorf("an import of the file: %+v, %v", results, err)
	}
	synced, err := a.Sync(t.Context(), api.SyncRequest{Space: "team", Remote: "mirror"})
	if err != nil || len(synced) != 1 || synced[0].Problem == nil || synced[0].Problem.Rule != "purged" {
		t.Errorf("a sync with the remote that still has it: %+v, %v", synced, err)
	}
	a.Note("team", "saved afterwards")
	a.Has("team", "kept", "saved afterwards")
	rid(f, t, a, secret)
}

// A value that a purged one had replaced is the current one again, and what a
// purged note had superseded is live.
func TestWhatAPurgedEventReplacedComesBack(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bo")
	secret := word()
	a.Save("team", &event.Pref{Category: "style", Key: "indent", Value: "tabs"})
	wrong := a.Save("team", &event.Pref{Category: "style", Key: "indent", Value: secret})
	old := a.Note("team", "the first version")
	newer := a.Save("team", &event.Observe{Content: "the second version " + secret, Supersedes: old})
	current := func(m *fleettest.Machine) string {
		answer, err := m.Log(t.Context(), api.Query{Limit: 10, Filter: api.Filter{Space: "team", Kind: event.KindPref}})
		if err != nil || len(answer.Hits) != 1 {
			return ""
		}
		return answer.Hits[0].Text
	}
	live := func(m *fleettest.Machine, text string) bool {
		return slices.ContainsFunc(m.Texts("team"), func(s string) bool { return strings.HasPrefix(s, text) })
	}
	f.Until("b has it all", func() bool {
		return strings.Contains(current(b), secret) && live(b, "the second") && !live(b, "the first")
	})
	purge(t, f, wrong, newer)
	for _, m := range []*fleettest.Machine{a, b} {
		f.Until("what was replaced is back", func() bool {
			return strings.Contains(current(m), "tabs") && live(m, "the first") && !live(m, "the second")
		})
		rid(f, t, m, secret)
	}
}

// An agent that is killed while it takes old objects off the disk goes on with
// that at its next start.
func TestAnAgentThatWasKilledAfterAPurgeFinishesIt(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	secret := word()
	leaked := a.Note("team", "the code is "+secret)
	a.Note("team", "kept")
	exchange(t, a)
	packs, err := filepath.Glob(filepath.Join(a.Home.Space("team"), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	saved := map[string][]byte{}
	for _, p := range packs {
		for _, name := range []string{p, strings.TrimSuffix(p, ".pack") + ".idx"} {
			if saved[name], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	purge(t, f, leaked)
	a.Has("team", "kept")
	rid(f, t, a, secret)
	a.Stop()
	// As if it had been killed while it removed the old packs.
	for name, b := range saved {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.Start()
	rid(f, t, a, secret)
	fsck(t, a.Home.Space("team"))
}

// After a purge the newest pack is lost. Doctor looks for what is missing at the
// remotes, of which one still has what was purged and the machine's own memory
// of it is an old one. Nothing of it comes back; what the hub has does.
func TestADoctorBringsBackNothingThatWasPurged(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, witness := f.Joined("a", "ana"), f.Joined("w", "bo")
	secret := word()
	mirror := filepath.Join(t.TempDir(), "mirror.git")
	link(t, a, mirror)
	leaked := a.Note("team", "the code is "+secret)
	exchange(t, a)
	old, err := fleettest.HeadOf(mirror, "team")
	if err != nil {
		t.Fatal(err)
	}
	purge(t, f, leaked)
	a.Has("team")
	rid(f, t, a, secret)
	if len(purgetest.Traces(t, mirror, secret)) == 0 {
		t.Fatal("the mirror does not have it any more")
	}
	before := packsOf(t, a)
	a.Note("team", "kept")
	witness.Has("team", "kept") // so the hub has it
	a.Stop()
	for _, pack := range packsOf(t, a) {
		if !slices.Contains(before, pack) {
			if err := os.Remove(pack); err != nil {
				t.Fatal(err)
			}
		}
	}
	// As a crash in the middle of the purge could have left it.
	tracking := filepath.Join(a.Home.Space("team"), "refs", "remotes", "mirror", "main")
	if err := errors.Join(os.MkdirAll(filepath.Dir(tracking), 0o755), os.WriteFile(tracking, []byte(old+"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	f.StopHub()
	a.Start()
	report, err := a.Doctor(t.Context(), true)
	if err != nil || report.OK {
		t.Errorf("doctor finds nothing wrong: %+v, %v", report, err)
	}
	if left := purgetest.Traces(t, string(a.Home), secret); len(left) > 0 {
		t.Errorf("doctor brought it back: %v", left)
	}
	f.StartHub()
	f.Until("doctor fetches what is missing from the hub", func() bool {
		_, err := a.Doctor(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		return space(t, a, "team").Indexed == 1
	})
	a.Has("team", "kept")
	rid(f, t, a, secret)
	fsck(t, a.Home.Space("team"))
}

func packsOf(t *testing.T, m *fleettest.Machine) []string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(m.Home.Space("team"), "objects", "pack", "pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	return packs
}
