package devices_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/hub/devices"
	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/internal/event/eventtest"
)

func opened(t *testing.T, dir string) *devices.Store {
	t.Helper()
	if err := devices.Create(context.Background(), disk.OS, dir); err != nil {
		t.Fatal(err)
	}
	s, err := devices.Open(disk.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAChangeByOneProcessIsSeenByTheOther(t *testing.T) {
	dir := t.TempDir()
	serving, admin := opened(t, dir), opened(t, dir)
	err := admin.Change(context.Background(), func(m *devices.Members) error {
		invited(t, m, "invite", "ana", devices.Write, "team")
		enrolled(t, m, "invite", "laptop")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := serving.Now()
	if err != nil || m.Lookup(public("laptop")).Device == nil || m.Role("ana", "team") != devices.Write {
		t.Fatalf("the serving hub does not see the device: %v", err)
	}
	if err := admin.Change(context.Background(), func(m *devices.Members) error {
		_, err := m.Revoke(string(eventtest.Device("laptop")), now)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if m.Lookup(public("laptop")).Device.Revoked != nil {
		t.Error("a list that was handed out changed afterwards")
	}
	if m, err = serving.Now(); err != nil || m.Lookup(public("laptop")).Device.Revoked == nil {
		t.Fatalf("the serving hub does not see the revocation: %v", err)
	}
}

// A list that nobody changes is looked at, and not read, however often it is asked for.
func TestAListThatStaysIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir)
	path := filepath.Join(dir, devices.FileName)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	count := countfs.New(disk.OS)
	s, err := devices.Open(count, dir)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Now()
	before := count.Count()
	for range 10 {
		if m, err := s.Now(); err != nil || m != first {
			t.Fatal(m, err)
		}
	}
	if n := count.Count().Sub(before).Reads; n > 0 {
		t.Errorf("it was read with %d more calls", n)
	}
}

// A change that leaves name, size and time as they were is seen, if it comes so soon that a coarse clock may not tell.
func TestAChangeWithinOneTickIsSeen(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	path := filepath.Join(dir, devices.FileName)
	err := s.Change(context.Background(), func(m *devices.Members) error {
		invited(t, m, "invite", "ana", devices.Write, "team")
		enrolled(t, m, "invite", "laptop")
		return nil
	})
	info, serr := os.Stat(path)
	raw, rerr := os.ReadFile(path)
	_, nerr := s.Now()
	if err := errors.Join(err, serr, rerr, nerr); err != nil {
		t.Fatal(err)
	}
	other := strings.ReplaceAll(string(raw), `"laptop"`, `"tablet"`)
	if other == string(raw) {
		t.Fatal("the same text")
	}
	if err := errors.Join(os.WriteFile(path, []byte(other), 0o600), os.Chtimes(path, time.Time{}, info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Now(); err != nil || m.Lookup(public("laptop")).Device.Name != "tablet" {
		t.Errorf("the former list: %v", err)
	}
}

// However many ask at once, nobody is told less than what was stored before they asked.
func TestWhatIsStoredIsSeenByAllWhoAskLater(t *testing.T) {
	dir := t.TempDir()
	s, admin := opened(t, dir), opened(t, dir)
	var stored atomic.Int64
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for n := int64(0); n < 30; {
				n = stored.Load()
				m, err := s.Now()
				if err != nil || int64(len(m.Invites())) < n {
					t.Errorf("after %d invites: %v", n, err)
					return
				}
			}
		})
	}
	for n := range 30 {
		err := admin.Change(context.Background(), func(m *devices.Members) error {
			invited(t, m, fmt.Sprint("invite ", n), "ana", devices.Write, "team")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		stored.Add(1)
	}
	work.Wait()
}

func TestAFailedChangeStoresNothing(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, devices.FileName))
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("changed my mind")
	err = s.Change(context.Background(), func(m *devices.Members) error {
		invited(t, m, "invite", "ana", devices.Write, "team")
		return reason
	})
	if !errors.Is(err, reason) {
		t.Fatalf("got %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, devices.FileName))
	if err != nil || string(after) != string(before) {
		t.Fatalf("the file changed, %v", err)
	}
	if m, err := s.Now(); err != nil || len(m.Invites()) != 0 {
		t.Fatalf("the list changed, %v", err)
	}
}

func TestChangesAtOnceAllCount(t *testing.T) {
	dir := t.TempDir()
	stores := []*devices.Store{opened(t, dir), opened(t, dir)}
	const each = 8
	var wg sync.WaitGroup
	for n := range 2 * each {
		wg.Go(func() {
			err := stores[n%2].Change(context.Background(), func(m *devices.Members) error {
				return m.Invite(public(fmt.Sprint("invite", n)), "ana", nil, devices.Read, now, devices.DefaultTTL)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if m, err := stores[0].Now(); err != nil || len(m.Invites()) != 2*each {
		t.Fatalf("%d invites, %v", len(m.Invites()), err)
	}
}

func TestAnUnreadableListIsNeverAnEmptyOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, devices.FileName)
	s := opened(t, dir)
	if err := s.Change(context.Background(), func(m *devices.Members) error {
		invited(t, m, "invite", "ana", devices.Write, "team")
		enrolled(t, m, "invite", "laptop")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty":          "",
		"cut short":      string(good[:len(good)/2]),
		"something more": string(good) + "{}",
		"a newer form":   strings.Replace(string(good), `"format": 1`, `"format": 2`, 1),
		"unknown member": strings.Replace(string(good), `"format"`, `"extra": 1, "format"`, 1),
		"another key":    strings.Replace(string(good), `"id": "`+string(eventtest.Device("laptop")), `"id": "`+string(eventtest.Device("other")), 1),
		"unknown role":   strings.Replace(string(good), `"team": "write"`, `"team": "owner"`, 1),
		"nobody's":       strings.Replace(string(good), `"name": "ana"`, `"name": "bo"`, 1),
	} {
		if bad == string(good) {
			t.Fatalf("%s: the bad list is the good one", name)
		}
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{func() error { _, err := s.Now(); return err }(), s.Change(context.Background(), func(*devices.Members) error { return nil })} {
			if _, ok := errors.AsType[*devices.CorruptError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != bad {
			t.Errorf("%s: the file was replaced, %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Now(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing list: %v", err)
	}
}

func TestTheListIsReadableByItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	opened(t, dir)
	info, err := os.Stat(filepath.Join(dir, devices.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v", mode)
	}
}
