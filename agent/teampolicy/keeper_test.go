package teampolicy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/teampolicy"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/internal/hubwire"
	"cairn/policy/versions"
)

var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hubID = event.ID("01kk0000000000000000000000")
	key   = device.FromPrivate(eventtest.Key("hub"))
)

// A teller is a hub as far as its policy goes. It may lie.
type teller struct {
	chain []versions.Version
	files map[versions.Hash][]byte
	key   device.Key
	page  int
	asked int
	back  []byte // a version that was given back
	takes error  // what it says to that
	fails error
}

func newTeller() *teller {
	return &teller{files: map[versions.Hash][]byte{}, key: key, page: 100, takes: errors.New("not taken")}
}

// push makes a file the next version, signed by ana, whoever else must.
func (h *teller) push(kinds string) *teller {
	file := fmt.Appendf(nil, "version: 1\nteam: acme\nadmins: [ana, bob]\nkinds: [%s]\n", kinds)
	p := versions.Propose(hubID, h.last(), file, "acme", []string{"ana", "bob"}, 1)
	p.By, p.At = "ana", event.NewTime(now)
	v := versions.Version{Proposal: p, Approved: []versions.Approval{p.Approve("ana", device.FromPrivate(eventtest.Key("ana")))}}
	h.chain = append(h.chain, v.Sealed(key))
	h.files[p.File] = file
	return h
}

// says has ana sign something else about the file of the last version.
func (h *teller) says(change func(*versions.Proposal)) {
	v := h.last()
	change(&v.Proposal)
	v.Approved = []versions.Approval{v.Proposal.Approve("ana", device.FromPrivate(eventtest.Key("ana")))}
	*v = v.Sealed(key)
}

func (h *teller) last() *versions.Version {
	if len(h.chain) == 0 {
		return nil
	}
	return &h.chain[len(h.chain)-1]
}

func (h *teller) mark() hubwire.PolicyMark {
	if h.last() == nil {
		return hubwire.BuiltIn
	}
	return hubwire.PolicyMark{Number: h.last().Number, Hash: h.last().Hash().String()}
}

func (h *teller) since(_ context.Context, n int) (hubwire.PolicyAnswer, error) {
	h.asked++
	a := hubwire.PolicyAnswer{Hub: hubID, Key: h.key.Public(), Newest: h.mark()}
	for _, v := range h.chain {
		if v.Number > n && len(a.Versions) < h.page {
			a.Versions = append(a.Versions, versions.Encode(v))
			a.File = nil
			if v.Number == h.last().Number {
				a.File = h.files[v.Proposal.File]
			}
		}
	}
	return a, h.fails
}

func (h *teller) hub() teampolicy.Hub {
	return teampolicy.Hub{ID: hubID, Fingerprint: hubwire.Fingerprint(key.Public()), Since: h.since, Return: func(_ context.Context, version, _ []byte) error {
		h.back = version
		return h.takes
	}}
}

func open(t *testing.T) (*teampolicy.Keeper, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.json")
	return teampolicy.Open(disk.OS, path, time.Now), path
}

func follow(t *testing.T, k *teampolicy.Keeper, h *teller) {
	t.Helper()
	if err := k.Follow(t.Context(), h.hub(), h.mark()); err != nil {
		t.Fatal(err)
	}
}

func is(t *testing.T, k *teampolicy.Keeper, number int, trouble string) {
	t.Helper()
	s := k.State()
	said := ""
	if s.Trouble != nil {
		said = s.Trouble.Error()
	}
	if s.Number != number || k.Policy().Number() != number || (trouble == "") != (said == "") || !strings.Contains(said, trouble) {
		t.Errorf("version %d is in force, trouble %q; want %d, %q", s.Number, said, number, trouble)
	}
}

func TestTheNewestVersionIsFollowedAndKept(t *testing.T) {
	k, path := open(t)
	h := newTeller()
	follow(t, k, h)
	is(t, k, 1, "")
	h.push("observe").push("claim").push("lesson").push("observe, claim")
	h.page = 2
	follow(t, k, h)
	is(t, k, 5, "")
	asked := h.asked
	follow(t, k, h)
	if h.asked != asked {
		t.Error("it asks although nothing is new")
	}
	again := teampolicy.Open(disk.OS, path, time.Now)
	is(t, again, 5, "")
	follow(t, again, h.push("lesson"))
	is(t, again, 6, "")
}

// A hub, or whoever stands in its place, shows what does not lead on from what
// the machine had. Nothing of it is taken, and it is told.
func TestWhatDoesNotLeadOnIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		lie     func(*teller)
		trouble string
	}{
		"an older policy":      {func(h *teller) { h.chain = h.chain[:1] }, "had version 3"},
		"none any more":        {func(h *teller) { h.chain = nil }, "had version 3"},
		"another of that name": {func(h *teller) { h.chain = h.chain[:1]; h.push("pref") }, "another policy version 3"},
		"a fork that goes on":  {func(h *teller) { h.chain = h.chain[:1]; h.push("pref").push("verify") }, "does not follow"},
		"a chain with a hole":  {func(h *teller) { h.push("pref").push("verify"); h.chain = slices.Delete(h.chain, 2, 3) }, "comes after"},
		"a stripped approval": {func(h *teller) {
			h.push("pref")
			h.last().Approved = nil
			*h.last() = h.last().Sealed(key)
		}, "cannot be read"},
		"a stranger's approval": {func(h *teller) {
			h.push("pref")
			v := h.last()
			v.Approved = []versions.Approval{v.Proposal.Approve("mallory", device.FromPrivate(eventtest.Key("mallory")))}
			*v = v.Sealed(key)
		}, "no admin"},
		"no seal": {func(h *teller) { h.push("pref"); h.last().Seal = nil }, "seal"},
		"another key": {func(h *teller) {
			h.push("pref")
			h.key = device.FromPrivate(eventtest.Key("mallory"))
		}, "another key"},
		"another file": {func(h *teller) { h.push("pref"); h.files[h.last().Proposal.File] = []byte("version: 1\n") }, "another one"},
		"admins that the file does not name": {func(h *teller) {
			h.push("pref").says(func(p *versions.Proposal) { p.Admins = []string{"ana", "mallory"} })
		}, "what the file does not say"},
		"more approvals than the file asks for": {func(h *teller) { h.push("pref").says(func(p *versions.Proposal) { p.Approvals = 2 }) }, "what the file does not say"},
		"another team than the file's":          {func(h *teller) { h.push("pref").says(func(p *versions.Proposal) { p.Team = "evil" }) }, "what the file does not say"},
	} {
		k, path := open(t)
		h := newTeller().push("observe").push("claim")
		follow(t, k, h)
		is(t, k, 3, "")
		c.lie(h)
		follow(t, k, h)
		t.Log(name)
		is(t, k, 3, c.trouble)
		is(t, teampolicy.Open(disk.OS, path, time.Now), 3, "")
		good := newTeller().push("observe").push("claim").push("lesson")
		follow(t, k, good)
		is(t, k, 4, "")
	}
}

// A hub that has lost just the newest version gets it back.
func TestALostVersionIsGivenBack(t *testing.T) {
	k, _ := open(t)
	h := newTeller().push("observe").push("claim")
	follow(t, k, h)
	lost := versions.Encode(*h.last())
	h.chain, h.takes = h.chain[:1], nil
	follow(t, k, h)
	if string(h.back) != string(lost) {
		t.Errorf("given back: %s", h.back)
	}
	is(t, k, 3, "")
	h.back, h.chain = nil, nil
	follow(t, k, h)
	if h.back != nil {
		t.Error("a version is given back that does not follow")
	}
	is(t, k, 3, "had version 3")
}

// What this program does not understand stays with the hub: an older version is
// better than none.
func TestANewerFormOfFileIsNotTaken(t *testing.T) {
	k, path := open(t)
	h := newTeller().push("observe")
	follow(t, k, h)
	follow(t, k, h.push("observe]\nbrand_new: [x"))
	is(t, k, 2, "upgrade cairn")
	is(t, teampolicy.Open(disk.OS, path, time.Now), 2, "")
}

func TestAHubThatCannotBeAskedIsAnError(t *testing.T) {
	k, _ := open(t)
	h := newTeller().push("observe")
	h.fails = errors.New("gone")
	if err := k.Follow(t.Context(), h.hub(), h.mark()); !errors.Is(err, h.fails) {
		t.Errorf("%v", err)
	}
	is(t, k, 1, "")
}

// Whatever of the disk fails, the machine has the old version or the new one.
func TestAPowerCutWhileAVersionIsKept(t *testing.T) {
	h := newTeller().push("observe")
	for n := 1; ; n++ {
		root := t.TempDir()
		path := filepath.Join(root, "policy.json")
		follow(t, teampolicy.Open(disk.OS, path, time.Now), h)
		fsys, err := faultfs.New(root)
		if err != nil {
			t.Fatal(err)
		}
		k := teampolicy.Open(fsys, path, time.Now)
		fsys.DieAt(n)
		next := newTeller()
		next.chain, next.files = slices.Clone(h.chain), h.files
		err = k.Follow(t.Context(), next.push("claim").hub(), next.mark())
		for names := range fsys.Unsynced() + 1 {
			after := t.TempDir() + "/after"
			if err := fsys.Crash(after, faultfs.Survival{Names: names, Contents: faultfs.Lost}); err != nil {
				t.Fatal(err)
			}
			s := teampolicy.Open(disk.OS, filepath.Join(after, "policy.json"), time.Now).State()
			if s.Trouble != nil || s.Number != 2 && s.Number != 3 || err == nil && s.Number != 3 {
				t.Fatalf("death at step %d, %d names: version %d, %v; it said %v", n, names, s.Number, s.Trouble, err)
			}
		}
		if err == nil {
			return
		}
	}
}

func TestADamagedFileIsTroubleUntilTheNextSync(t *testing.T) {
	k, path := open(t)
	h := newTeller().push("observe")
	follow(t, k, h)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"", "{}", strings.Replace(string(raw), `"file":"`, `"file":"AAAA`, 1), strings.Replace(string(raw), `"number":2`, `"number":9`, 1)[:len(raw)/2]} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		k := teampolicy.Open(disk.OS, path, time.Now)
		is(t, k, 1, "cannot be read")
		follow(t, k, h)
		is(t, k, 2, "")
	}
}
