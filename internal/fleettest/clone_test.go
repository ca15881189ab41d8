package fleettest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/problem"
)

func device(t *testing.T, m *fleettest.Machine) string {
	t.Helper()
	s, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Device
}

// settled waits until the machines have pushed everything and are level.
func settled(t *testing.T, f *fleettest.Fleet, space_ string, want []string, machines ...*fleettest.Machine) {
	t.Helper()
	for _, m := range machines {
		m.Has(space_, want...)
		f.Until("nothing waits", func() bool { return space(t, m, space_).Ahead == 0 })
	}
	heads(t, f, space_, machines...)
	for _, m := range machines {
		if list, err := m.Refused(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("refused: %+v, %v", list, err)
		}
	}
}

// apart checks that the machines are devices of their own, that at most one has
// kept the key that all had, and that whoever has not can say why.
func apart(t *testing.T, f *fleettest.Fleet, key string, machines ...*fleettest.Machine) {
	t.Helper()
	var ids []string
	for _, m := range machines {
		id := device(t, m)
		if slices.Contains(ids, id) {
			t.Errorf("two copies are both device %s", id)
		}
		ids = append(ids, id)
		c := check(t, m, "device")
		if !c.OK || id != key && !strings.Contains(c.Detail, "another copy") || id == key && c.Detail != "device "+key {
			t.Errorf("doctor says of the device %+v", c)
		}
	}
	if !slices.Contains(ids, key) {
		return
	}
	list, err := f.Hub().Admin().Everyone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Devices {
		if slices.Contains(ids, string(d.ID)) && string(d.ID) != key && string(d.Renews) != key {
			t.Errorf("the hub does not know whose copy %s is: %+v", d.ID, d)
		}
	}
}

// A home is copied to a second machine, key and all, with notes that were never
// pushed. Both write on.
func TestACopiedMachineBecomesADeviceOfItsOwn(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, witness := f.Joined("a", "ana"), f.Joined("w", "bo")
	key := device(t, a)
	a.Note("team", "before")
	witness.Has("team", "before")
	f.StopHub()
	a.Note("team", "not pushed yet")
	copied := a.Backup()
	f.StartHub()
	b := f.MachineFrom(copied, "b")
	a.Note("team", "a goes on")
	b.Note("team", "b goes on")
	a.Note("team", "a again")
	b.Note("team", "b again")
	want := []string{"before", "not pushed yet", "a goes on", "b goes on", "a again", "b again"}
	settled(t, f, "team", want, a, b, witness)
	apart(t, f, key, a, b)
	a.Note("team", "a at last")
	b.Note("team", "b at last")
	settled(t, f, "team", append(want, "a at last", "b at last"), a, b, witness)
	apart(t, f, key, a, b)
	if n := len(notes(t, a, event.KindAudit)); n == 0 {
		t.Error("no audit event tells of the new key")
	}
}

// notes are the events of a kind in the person's own space.
func notes(t *testing.T, m *fleettest.Machine, kind event.Kind) []api.Hit {
	t.Helper()
	answer, err := m.Log(t.Context(), api.Query{Limit: 100, Filter: api.Filter{Space: "personal", Kind: kind}})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Hits
}

// The copy is level with the hub before it writes, so that its history says
// nothing against it.
func TestACopyThatFetchedFirstIsFoundOut(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	key := device(t, a)
	a.Note("team", "before")
	settled(t, f, "team", []string{"before"}, a)
	copied := a.Backup()
	a.Note("team", "a goes on")
	settled(t, f, "team", []string{"before", "a goes on"}, a)
	b := f.MachineFrom(copied, "b")
	b.Has("team", "before", "a goes on")
	b.Note("team", "b goes on")
	settled(t, f, "team", []string{"before", "a goes on", "b goes on"}, a, b)
	if device(t, b) == key || device(t, a) != key {
		t.Error("the copy has kept the key")
	}
	apart(t, f, key, a, b)
}

// A machine is restored from a backup that lacks what it has pushed since.
func TestARestoredBackupGetsBackWhatItHadPushed(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	key := device(t, a)
	a.Note("team", "in the backup")
	settled(t, f, "team", []string{"in the backup"}, a)
	backup := a.Backup()
	a.Note("team", "after the backup")
	settled(t, f, "team", []string{"in the backup", "after the backup"}, a)
	a.Restore(backup)
	a.Has("team", "in the backup", "after the backup")
	a.Note("team", "after the restore")
	settled(t, f, "team", []string{"in the backup", "after the backup", "after the restore"}, a)
	if device(t, a) == key {
		t.Error("the restored machine goes on with the old key")
	}
	apart(t, f, key, a)
	a.Stop()
	a.Start()
	a.Note("team", "and a restart later")
	settled(t, f, "team", []string{"in the backup", "after the backup", "after the restore", "and a restart later"}, a)
	apart(t, f, key, a)
}

// A machine that lost its memory of what it pushed is no copy.
func TestALostLeaseFileLocksNobodyOut(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bo")
	key := device(t, a)
	a.Note("team", "one")
	settled(t, f, "team", []string{"one"}, a, b)
	a.Stop()
	if err := os.Remove(a.Home.Pushed("team")); err != nil {
		t.Fatal(err)
	}
	b.Note("team", "meanwhile")
	a.Start()
	a.Note("team", "two")
	settled(t, f, "team", []string{"one", "meanwhile", "two"}, a, b)
	a.Stop()
	if err := os.WriteFile(a.Home.Pushed("team"), []byte("{\"dev"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Start()
	a.Note("team", "three")
	settled(t, f, "team", []string{"one", "meanwhile", "two", "three"}, a, b)
	if device(t, a) != key {
		t.Error("it was taken for a copy")
	}
}

// Neither machine nor hub is taken for a copy because one of them dies at any
// moment.
func TestRestartsMakeNoCopies(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	key := device(t, a)
	var want []string
	for i := range 6 {
		text := string(rune('a' + i))
		want = append(want, text)
		a.Note("team", text)
		if i%2 == 0 {
			f.StopHub()
			f.StartHub()
		} else {
			a.Stop()
			a.Start()
		}
	}
	settled(t, f, "team", want, a)
	if device(t, a) != key {
		t.Error("it was taken for a copy")
	}
}

// Two copies of a machine wake up in the same moment, each with notes of its
// own. Exactly one keeps the key.
func TestTwoCopiesThatWakeUpTogether(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, witness := f.Joined("a", "ana"), f.Joined("w", "bo")
	key := device(t, a)
	a.Note("team", "before")
	settled(t, f, "team", []string{"before"}, a, witness)
	copied := a.Backup()
	f.StopHub()
	b := f.MachineFrom(copied, "b")
	want := []string{"before"}
	for i := range 3 {
		want = append(want, "a "+string(rune('0'+i)), "b "+string(rune('0'+i)))
		a.Note("team", want[len(want)-2])
		b.Note("team", want[len(want)-1])
	}
	f.StartHub()
	settled(t, f, "team", want, a, b, witness)
	apart(t, f, key, a, b)
	if (device(t, a) == key) == (device(t, b) == key) {
		t.Errorf("the key is of %s and %s, want one of them", device(t, a), device(t, b))
	}
	for _, m := range []*fleettest.Machine{a, b, witness} {
		m.Has("team", want...) // each once
	}
}

// A machine is revoked, together with the key that it had before. Whoever wants
// it back gives it an invite. What it saved meanwhile, under the old key, stays
// on it and is listed.
func TestARevokedMachineComesBackWithANewInvite(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, witness := f.Joined("a", "ana"), f.Joined("w", "bo")
	first := device(t, a)
	a.Note("team", "in the backup")
	settled(t, f, "team", []string{"in the backup"}, a, witness)
	backup := a.Backup()
	a.Note("team", "after it")
	settled(t, f, "team", []string{"in the backup", "after it"}, a, witness)
	a.Restore(backup)
	a.Note("team", "under the second key")
	settled(t, f, "team", []string{"in the backup", "after it", "under the second key"}, a, witness)
	second := device(t, a)
	if second == first {
		t.Fatal("the restored machine has kept its key")
	}
	if _, err := f.Hub().Admin().Revoke(t.Context(), caller, first); err != nil {
		t.Fatal(err)
	}
	f.Until("the renewed key is cut off too", func() bool {
		results, err := a.Sync(t.Context(), api.SyncRequest{Space: "team"})
		return err == nil && results[0].Problem != nil && results[0].Problem.Code == problem.HubRefused
	})
	lost := a.Note("team", "while it was out")
	a.Join(f.Invite("ana"))
	if third := device(t, a); third == second || third == first {
		t.Errorf("it is device %s again", third)
	}
	f.Until("the note of the old key is listed", func() bool {
		list, err := a.Refused(t.Context())
		return err == nil && slices.ContainsFunc(list, func(r api.Refusal) bool { return r.ID == lost })
	})
	a.Note("team", "while it was out") // saved again, under the new key
	want := []string{"in the backup", "after it", "under the second key", "while it was out"}
	witness.Has("team", want...)
	a.Has("team", want...)
	a.Stop()
	a.Start()
	a.Note("team", "after a restart")
	witness.Has("team", append(want, "after a restart")...)
}

// A hub that once knew this machine's key and shut it out must not get the
// machine to give up the key under which its own hub knows it.
func TestAnotherHubsInviteTakesNoKey(t *testing.T) {
	own, other := fleettest.Start(t, hub.Options{}), fleettest.Start(t, hub.Options{})
	a := own.Machine("a")
	before := other.MachineFrom(a.Backup(), "a before")
	before.Join(other.Invite("ana"))
	key := device(t, a)
	if _, err := other.Hub().Admin().Revoke(t.Context(), caller, key); err != nil {
		t.Fatal(err)
	}
	a.Join(own.Invite("ana"))
	if _, err := a.Agent.Join(t.Context(), other.Invite("ana")); problem.Of(err).Code != problem.Usage {
		t.Errorf("a second hub: %v", err)
	}
	if device(t, a) != key {
		t.Error("the machine has another key now")
	}
	a.Note("team", "still at home")
	own.Until("its own hub takes what it saves", func() bool { return space(t, a, "team").Ahead == 0 })
}
