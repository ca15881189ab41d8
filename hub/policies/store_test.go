package policies_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/hub/policies"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/policy/versions"
)

var (
	hubID = event.ID("01kk0000000000000000000000")
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func key(name string) device.Key { return device.FromPrivate(eventtest.Key(name)) }

func open(fsys disk.FS, dir string) *policies.Store {
	return policies.Open(fsys, dir, hubID, key("hub"), func(versions.Approval) (bool, error) { return true, nil }, func() time.Time { return now })
}

func file(team string, approvals int) []byte {
	return fmt.Appendf(nil, "version: 1\nteam: %s\nadmins: [ana, bob]\napprovals: %d\n", team, approvals)
}

// propose has ana propose a file.
func propose(s *policies.Store, text []byte) (policies.State, error) {
	p, err := s.Next(text)
	if err != nil {
		return policies.State{}, err
	}
	p.By, p.At = "ana", event.NewTime(now)
	return s.Propose(context.Background(), p, text, p.Approve("ana", key("ana")), false)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// activeIs says what the folder says is in force, to a process of its own.
func activeIs(t *testing.T, dir string, number int) *policies.Active {
	t.Helper()
	a, err := open(disk.OS, dir).Active()
	must(t, err)
	if number < versions.First && a == nil {
		return nil
	}
	if a == nil || a.Number != number || versions.HashOf(a.Text) != a.Proposal.File {
		t.Fatalf("in force is %+v, want number %d", a, number)
	}
	return a
}

func TestAVersionIsInForceWhenEnoughHaveSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "policy")
	server, office := open(disk.OS, dir), open(disk.OS, dir)
	activeIs(t, dir, 1)
	one, err := propose(office, file("acme", 2))
	if err != nil || one.Missing != 0 || one.Number != versions.First {
		t.Fatalf("%+v, %v", one, err)
	}
	if a, err := server.Active(); err != nil || a.Number != 2 {
		t.Fatalf("another process sees %+v, %v", a, err)
	}
	two, err := propose(office, file("acme-two", 1))
	if err != nil || two.Missing != 1 {
		t.Fatalf("%+v, %v", two, err)
	}
	activeIs(t, dir, 2)
	if _, err := propose(office, file("acme-three", 1)); !errors.Is(err, policies.ErrWaiting) {
		t.Errorf("over one that waits: %v", err)
	}
	if _, err := propose(office, file("acme", 2)); !errors.Is(err, policies.ErrSame) {
		t.Errorf("the same again: %v", err)
	}
	ctx := t.Context()
	if _, err := server.Approve(ctx, 3, two.Proposal.Approve("cy", key("cy"))); err == nil {
		t.Error("a stranger approves")
	}
	if s, err := server.Approve(ctx, 3, two.Proposal.Approve("ana", key("phone"))); err != nil || s.Missing != 1 {
		t.Errorf("ana with another device: %+v, %v", s, err)
	}
	if _, err := server.Approve(ctx, 4, two.Proposal.Approve("bob", key("bob"))); !errors.Is(err, policies.ErrNone) {
		t.Errorf("another number: %v", err)
	}
	other := two.Proposal
	other.Team = "evil"
	if _, err := server.Approve(ctx, 3, other.Approve("bob", key("bob"))); !errors.Is(err, policies.ErrOther) {
		t.Errorf("another proposal: %v", err)
	}
	if s, err := server.Approve(ctx, 3, two.Proposal.Approve("bob", key("bob"))); err != nil || s.Missing != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	activeIs(t, dir, 3)
	if w, err := server.Pending(); w != nil || err != nil {
		t.Errorf("waiting still: %+v, %v", w, err)
	}
	if _, err := server.Propose(ctx, two.Proposal, file("acme-two", 1), two.Approved[0], true); err == nil {
		t.Error("an old proposal is taken again")
	}
}

// What is in the folder is followed or not trusted at all.
func TestAFolderThatWasTamperedWithAnswersNothing(t *testing.T) {
	for name, tamper := range map[string]func(dir string, s *policies.Store) error{
		"a version removed in the middle": func(dir string, _ *policies.Store) error { return os.Remove(filepath.Join(dir, "3.json")) },
		"a version copied forward": func(dir string, _ *policies.Store) error {
			b, err := os.ReadFile(filepath.Join(dir, "3.json"))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "5.json"), b, 0o600))
		},
		"an old version under the newest number": func(dir string, _ *policies.Store) error {
			b, err := os.ReadFile(filepath.Join(dir, "3.json"))
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "4.json"), b, 0o600))
		},
		"an approval less": func(dir string, _ *policies.Store) error {
			b, err := os.ReadFile(filepath.Join(dir, "4.json"))
			at := strings.Index(string(b), `,{"person":"bob"`)
			end := at + strings.Index(string(b[at:]), `]`)
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "4.json"), append(b[:at:at], b[end:]...), 0o600))
		},
		"another file under a hash": func(dir string, s *policies.Store) error {
			a, err := s.Active()
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "files", a.Proposal.File.String()+".yaml"), file("evil", 1), 0o600))
		},
		"rubbish": func(dir string, _ *policies.Store) error {
			return os.WriteFile(filepath.Join(dir, "4.json"), nil, 0o600)
		},
	} {
		dir := filepath.Join(t.TempDir(), "policy")
		s := filled(t, dir)
		must(t, tamper(dir, s))
		_, err := open(disk.OS, dir).Active()
		if _, ok := errors.AsType[*policies.CorruptError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// filled has versions 2 to 4.
func filled(t *testing.T, dir string) *policies.Store {
	t.Helper()
	s := open(disk.OS, dir)
	for _, team := range []string{"one", "two", "three"} {
		st, err := propose(s, file(team, 2))
		must(t, err)
		if st.Missing > 0 {
			_, err = s.Approve(t.Context(), st.Number, st.Proposal.Approve("bob", key("bob")))
			must(t, err)
		}
	}
	activeIs(t, dir, 4)
	return s
}

// A process that has seen a version does not go back when the folder does.
func TestARunningHubNoticesAnOlderFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "policy")
	s := filled(t, dir)
	must(t, os.Remove(filepath.Join(dir, "4.json")))
	if a, err := s.Active(); err == nil {
		t.Errorf("it goes back to %d", a.Number)
	}
}

// The power goes at any step of a proposal and its approval. What was
// acknowledged is there, what was not is there whole or not at all, and the
// folder can be trusted.
func TestAPowerCutBetweenProposalAndApproval(t *testing.T) {
	faults := 0
	for n := 1; ; n++ {
		done, err := lived(t, func(f *faultfs.FS) { f.DieAt(n) })
		if err != nil {
			t.Fatalf("death at step %d: %v", n, err)
		}
		if done {
			break
		}
		faults++
	}
	if faults < 10 {
		t.Errorf("it died at %d steps only", faults)
	}
	// The check itself: with one sync left out, something must be found.
	found := false
	for n := 1; n <= 12 && !found; n++ {
		_, err := lived(t, func(f *faultfs.FS) { f.LieAt(n) })
		found = err != nil
	}
	if !found {
		t.Error("no sync that was left out was noticed")
	}
}

// lived is one life: it proposes and approves on a disk with a fault, then the
// power goes. done says that it came to its end; the error what was lost.
func lived(t *testing.T, fault func(*faultfs.FS)) (done bool, err error) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "policy")
	_, err = propose(open(disk.OS, dir), file("one", 2))
	must(t, err)
	fsys, err := faultfs.New(root)
	must(t, err)
	fault(fsys)
	s := open(fsys, dir)
	st, proposed := propose(s, file("two", 2))
	var approved error
	if proposed == nil {
		_, approved = s.Approve(t.Context(), 3, st.Proposal.Approve("bob", key("bob")))
	}
	for _, contents := range []faultfs.Contents{faultfs.Lost, faultfs.Kept} {
		for names := range fsys.Unsynced() + 1 {
			after := filepath.Join(t.TempDir(), "after")
			must(t, fsys.Crash(after, faultfs.Survival{Names: names, Contents: contents}))
			if err := survived(filepath.Join(after, "policy"), proposed == nil, proposed == nil && approved == nil); err != nil {
				return false, err
			}
		}
	}
	return proposed == nil && approved == nil, nil
}

func survived(dir string, proposed, approved bool) error {
	s := open(disk.OS, dir)
	a, err := s.Active()
	if err != nil {
		return err
	}
	waiting, err := s.Pending()
	switch {
	case err != nil:
		return err
	case a == nil || approved && a.Number != 3:
		return fmt.Errorf("in force is %+v", a)
	case proposed && a.Number != 3 && waiting == nil:
		return errors.New("the proposal is lost")
	case waiting != nil && (waiting.Number != 3 || a.Number == 3):
		return fmt.Errorf("waiting is %+v", waiting)
	}
	if waiting == nil {
		return nil
	}
	_, err = s.File(waiting.Proposal.File)
	return err
}

// A version that was in force and is lost is taken back from whoever has it, and
// nothing else is.
func TestALostVersionIsTakenBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "policy")
	a, err := filled(t, dir).Active()
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "4.json")))
	ctx, s := t.Context(), open(disk.OS, dir)
	older, err := s.Version(2)
	must(t, err)
	unsealed, forged := a.Version, a.Version
	unsealed.Seal = nil
	forged.Approved = forged.Approved[:1]
	for name, v := range map[string]versions.Version{"unsealed": unsealed, "with an approval less": forged.Sealed(key("hub")), "older": older, "sealed by another": forged.Sealed(key("ana"))} {
		if err := s.TakeBack(ctx, v, a.Text); err == nil {
			t.Errorf("a version %s is taken", name)
		}
	}
	if err := s.TakeBack(ctx, a.Version, file("evil", 1)); err == nil {
		t.Error("another file is taken")
	}
	lie := a.Proposal
	lie.Admins = []string{"ana", "mallory"}
	signed := versions.Version{Proposal: lie, Approved: []versions.Approval{lie.Approve("ana", key("ana")), lie.Approve("bob", key("bob"))}}
	if err := s.TakeBack(ctx, signed.Sealed(key("hub")), a.Text); err == nil {
		t.Error("a version is taken that says of its file what the file does not say")
	}
	activeIs(t, dir, 3)
	must(t, s.TakeBack(ctx, a.Version, a.Text))
	activeIs(t, dir, 4)
	if err := s.TakeBack(ctx, a.Version, a.Text); err == nil {
		t.Error("it is taken twice")
	}
}

// Two must answer for what excuses a certain secret: it is not enough that a
// file asks for two signatures under the next one.
func TestOneAdminCannotExcuseACertainSecret(t *testing.T) {
	s := open(disk.OS, filepath.Join(t.TempDir(), "policy"))
	forced := append(file("acme", 2), "secrets:\n  allow:\n    - {rule: jwt, fingerprint: 9c41d07be2a85f36, reason: demo, by: ana, until: 2026-06-01, force: true}\n"...)
	if _, err := propose(s, forced); !errors.Is(err, policies.ErrForce) {
		t.Errorf("as the first version: %v", err)
	}
	_, err := propose(s, file("acme", 1))
	must(t, err)
	if _, err := propose(s, forced); !errors.Is(err, policies.ErrForce) {
		t.Errorf("while one signature is enough: %v", err)
	}
	_, err = propose(s, file("acme", 2))
	must(t, err)
	state, err := propose(s, forced)
	if err != nil || state.Missing != 1 {
		t.Errorf("%+v, %v; one more signature is needed", state, err)
	}
}

// An approval counts as long as its device is its person's: what a stolen one
// has signed waits for nobody.
func TestWhatARevokedDeviceSignedDoesNotWait(t *testing.T) {
	revoked := false
	s := policies.Open(disk.OS, filepath.Join(t.TempDir(), "policy"), hubID, key("hub"),
		func(a versions.Approval) (bool, error) { return !revoked || a.Person != "ana", nil }, func() time.Time { return now })
	_, err := propose(s, file("acme", 2))
	must(t, err)
	state, err := propose(s, file("other", 2))
	if err != nil || state.Missing != 1 {
		t.Fatalf("%+v, %v", state, err)
	}
	revoked = true
	if _, err := s.Approve(t.Context(), state.Number, state.Approve("bob", key("bob"))); !errors.Is(err, policies.ErrNone) {
		t.Errorf("it is approved: %v", err)
	}
	p, err := s.Next(file("other", 2))
	must(t, err)
	p.By, p.At = "bob", event.NewTime(now)
	state, err = s.Propose(t.Context(), p, file("other", 2), p.Approve("bob", key("bob")), false)
	if err != nil || state.Missing != 1 || len(state.Approved) != 1 {
		t.Errorf("the same file, signed anew: %+v, %v", state, err)
	}
}

// A file is read once, however often it is asked for, and no more files are
// remembered than there is use for.
func TestAFileIsReadOnce(t *testing.T) {
	s := open(disk.OS, filepath.Join(t.TempDir(), "policy"))
	first, err := s.Parse(file("acme", 1))
	must(t, err)
	_, err = propose(s, file("acme", 1))
	must(t, err)
	for _, team := range []string{"two", "three"} {
		_, err := s.Parse(file(team, 1))
		must(t, err)
		if again, err := s.Parse(file("acme", 1)); err != nil || again != first {
			t.Errorf("it was read again: %v", err)
		}
	}
	for _, team := range []string{"four", "five", "six"} {
		_, err := s.Parse(file(team, 1))
		must(t, err)
	}
	if again, err := s.Parse(file("acme", 1)); err != nil || again == first {
		t.Errorf("everything is remembered: %v", err)
	}
	if f, err := s.Parse([]byte("version: 1\n")); err == nil {
		t.Errorf("half a file is %+v", f)
	}
}
