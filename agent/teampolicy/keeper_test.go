package teampolicy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/agent/hubstate"
	"cairn/agent/teampolicy"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
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
	filed int    // that were asked for
	back  []byte // a version that was given back
	backs int    // how often one was
	takes error  // what it says to that
	fails error
}

func newTeller() *teller {
	return &teller{files: map[versions.Hash][]byte{}, key: key, page: 100, takes: problem.New(problem.HubRefused, "not taken")}
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
				a.File, a.Prints = h.files[v.Proposal.File], []byte("a key for fingerprints")
			}
		}
	}
	return a, h.fails
}

func (h *teller) file(_ context.Context, n int) ([]byte, error) {
	h.filed++
	for _, v := range h.chain {
		if v.Number == n && h.files[v.Proposal.File] != nil {
			return h.files[v.Proposal.File], nil
		}
	}
	return nil, problem.New(problem.NotFound, "there is none")
}

func (h *teller) hub() teampolicy.Hub {
	known := hubstate.Hub{ID: hubID, Fingerprint: hubwire.Fingerprint(key.Public())}
	return teampolicy.Hub{Hub: known, Since: h.since, File: h.file, Return: func(_ context.Context, version, _ []byte) error {
		h.backs++
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
		"a newer form of file":                  {func(h *teller) { h.push("observe]\nbrand_new: [x") }, "upgrade cairn"},
		"another team than the file's":          {func(h *teller) { h.push("pref").says(func(p *versions.Proposal) { p.Team = "evil" }) }, "what the file does not say"},
	} {
		k, path := open(t)
		h := newTeller().push("observe").push("claim")
		follow(t, k, h)
		is(t, k, 3, "")
		c.lie(h)
		t.Log(name)
		begun := h.asked + h.backs
		for range 3 {
			follow(t, k, h)
			is(t, k, 3, c.trouble)
		}
		if n := h.asked + h.backs - begun; n > 1 {
			t.Errorf("it costs %d requests", n)
		}
		is(t, teampolicy.Open(disk.OS, path, time.Now), 3, "")
		good := newTeller().push("observe").push("claim").push("lesson")
		follow(t, k, good)
		is(t, k, 4, "")
	}
}

// A hub that has lost a version and could not take it back may be able to later;
// one that said no says so again.
func TestALostVersionIsOfferedAgainUnlessTheHubSaidNo(t *testing.T) {
	for says, times := range map[error]int{
		problem.New(problem.HubRefused, "no"):         1,
		problem.New(problem.Usage, "what?"):           1,
		problem.New(problem.Failed, "no room"):        3,
		problem.New(problem.Busy, "in a moment"):      3,
		errors.New("the connection broke"):            3,
		fmt.Errorf("give back: %w", context.Canceled): 3,
	} {
		k, _ := open(t)
		h := newTeller().push("observe").push("claim")
		follow(t, k, h)
		h.chain, h.takes = h.chain[:1], says
		for range 3 {
			follow(t, k, h)
			is(t, k, 3, "had version 3")
		}
		if h.backs != times {
			t.Errorf("after %q it was offered %d times, want %d", says, h.backs, times)
		}
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
	h := newTeller().push("observe").push("claim")
	follow(t, k, h)
	whole := parse(t, path)
	number := func(n int) func(map[string]any) {
		return func(m map[string]any) {
			v := *h.last()
			v.Number = n
			m["version"] = versions.Encode(v)
		}
	}
	for name, damage := range map[string]func(map[string]any){
		"empty":             func(m map[string]any) { clear(m) },
		"no version":        func(m map[string]any) { delete(m, "version") },
		"no file":           func(m map[string]any) { delete(m, "file") },
		"another file":      func(m map[string]any) { m["file"] = []byte("version: 1\n") },
		"another number":    number(9),
		"the first number":  number(2),
		"no prints":         func(m map[string]any) { delete(m, "prints") },
		"other prints":      func(m map[string]any) { m["prints"] = []byte("others") },
		"no past":           func(m map[string]any) { delete(m, "past") },
		"another past":      func(m map[string]any) { m["past"] = []any{m["version"]} },
		"no files":          func(m map[string]any) { delete(m, "files") },
		"no version's form": func(m map[string]any) { m["version"] = []byte("{}") },
	} {
		damaged := maps.Clone(whole)
		damage(damaged)
		if reflect.DeepEqual(damaged, whole) {
			t.Errorf("%s: nothing is damaged", name)
		}
		store(t, path, damaged)
		t.Log(name)
		isTroubleUntilTheNextSync(t, path, h)
	}
	for _, text := range []string{"", "null", "[", `{"version":`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		isTroubleUntilTheNextSync(t, path, h)
	}
}

func isTroubleUntilTheNextSync(t *testing.T, path string, h *teller) {
	t.Helper()
	k := teampolicy.Open(disk.OS, path, time.Now)
	is(t, k, 1, "cannot be read: the built-in rules are in force")
	follow(t, k, h)
	is(t, k, 3, "")
}

// A file is never half right: whatever byte of it changes, what is in force is
// what was, or the damage is told.
func TestNoDamageChangesWhatIsInForce(t *testing.T) {
	k, path := open(t)
	follow(t, k, newTeller().push("observe").push("claim"))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		damaged := slices.Clone(whole)
		damaged[rapid.IntRange(0, len(whole)-1).Draw(t, "at")] ^= rapid.ByteRange(1, 255).Draw(t, "by")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		again := teampolicy.Open(disk.OS, path, time.Now)
		if _, told := errors.AsType[*hubstate.DamagedError](again.State().Trouble); told {
			return
		}
		v, file, _ := again.Version()
		want, wantFile, _ := k.Version()
		if again.State() != k.State() || v.Hash() != want.Hash() || !bytes.Equal(file, wantFile) || !bytes.Equal(again.Prints(), k.Prints()) {
			t.Fatalf("%+v is in force, and was %+v:\n%s", again.State(), k.State(), damaged)
		}
	})
}

// Older programs wrote the hash of the first version they saw, which nothing
// needs, and no sum.
func TestWhatAnOlderProgramKeptIsRead(t *testing.T) {
	k, path := open(t)
	h := newTeller().push("observe").push("claim")
	follow(t, k, h)
	older := parse(t, path)
	delete(older, "sum")
	older["first"] = h.chain[0].Hash().String()
	store(t, path, older)
	again := teampolicy.Open(disk.OS, path, time.Now)
	is(t, again, 3, "")
	follow(t, again, h)
	if h.asked != 1 {
		t.Error("it asks for what it has")
	}
	follow(t, again, h.push("lesson"))
	is(t, teampolicy.Open(disk.OS, path, time.Now), 4, "")
}

func parse(t *testing.T, path string) (m map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func store(t *testing.T, path string, m map[string]any) {
	t.Helper()
	b, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fitness says whether a note of a moment is fit by what a machine has heard.
func fitness(k *teampolicy.Keeper, when time.Time) bool {
	e := eventtest.Note("a note")
	e.ID = event.NewID(when)
	return k.Hindsight().Terms(e) == nil
}

// The versions before the newest are kept, with their files. What an older
// program did not keep comes with the next sync; until then nothing is held
// against what is there, and neither by a version whose file the hub has lost.
func TestThePastIsKept(t *testing.T) {
	k, path := open(t)
	h := newTeller().push("claim").push("observe").push("claim").push("claim, lesson")
	follow(t, k, h)
	long := now.Add(time.Hour)
	if fitness(k, long) || !fitness(k, now) {
		t.Error("a kind that no version allows since is fit, or one of before it is not")
	}
	if h.filed != 2 {
		t.Errorf("%d files are asked for; three versions have two", h.filed)
	}
	again := teampolicy.Open(disk.OS, path, time.Now)
	follow(t, again, h)
	if fitness(again, long) || !fitness(again, now) || h.filed != 2 || h.asked != 1 {
		t.Errorf("after a restart it is another, or is asked for again: %d, %d", h.filed, h.asked)
	}

	older := parse(t, path)
	for _, name := range []string{"past", "files", "sum"} {
		delete(older, name)
	}
	store(t, path, older)
	again = teampolicy.Open(disk.OS, path, time.Now)
	is(t, again, 5, "")
	if !fitness(again, long) {
		t.Error("half of a chain decides")
	}
	follow(t, again, h)
	follow(t, again, h)
	if fitness(again, long) || h.asked != 2 {
		t.Errorf("the rest was asked for %d times", h.asked-1)
	}
	store(t, path, older)
	fork := newTeller().push("claim").push("observe").push("lesson").push("claim, lesson")
	again = teampolicy.Open(disk.OS, path, time.Now)
	follow(t, again, fork.push("pref"))
	is(t, again, 5, "does not follow the version 5")

	k, _ = open(t)
	lost := newTeller().push("claim").push("lesson").push("claim, lesson")
	delete(lost.files, lost.chain[1].Proposal.File)
	follow(t, k, lost)
	is(t, k, 4, "")
	if !fitness(k, now) {
		t.Error("a version of which nothing is known forbids something")
	}
}
