package fleettest

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
)

// patience is how long a condition may take to come true. Nothing depends on
// its length but how soon a broken test says so.
const patience = 20 * time.Second

// A Fleet is a hub and its machines.
type Fleet struct {
	t    testing.TB
	dir  string
	addr string
	opt  hub.Options

	apart *Apart // serves instead of hub, if not nil
	hub   *hub.Hub
	end   context.CancelFunc
	ended chan error
}

// Start runs a hub with the shared space "team" until the test ends.
func Start(t testing.TB, opt hub.Options) *Fleet {
	t.Helper()
	f := &Fleet{t: t, dir: t.TempDir(), addr: "127.0.0.1:0", opt: opt}
	if _, err := hub.Init(t.Context(), f.HubDir()); err != nil {
		t.Fatal(err)
	}
	f.StartHub()
	t.Cleanup(f.StopHub)
	if _, err := f.hub.Admin().CreateSpace(t.Context(), admin.Caller{}, "team"); err != nil {
		t.Fatal(err)
	}
	return f
}

// StartApart is Start with the hub in a process of its own, which is the test's program: its TestMain calls Main. Of the
// options only the limits count. What Hub is then is the same folder, open for administration.
func StartApart(t testing.TB, opt hub.Options) *Fleet {
	t.Helper()
	f := &Fleet{t: t, dir: t.TempDir(), opt: opt}
	if _, err := hub.Init(t.Context(), f.HubDir()); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.hub, err = hub.Open(f.HubDir(), opt); err != nil {
		t.Fatal(err)
	}
	if _, err := f.hub.Admin().CreateSpace(t.Context(), admin.Caller{}, "team"); err != nil {
		t.Fatal(err)
	}
	f.apart, f.addr, err = startApart(charge{Dir: f.HubDir(), Addr: "127.0.0.1:0", Door: opt.Door, Pushes: opt.Pushes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.StopHub)
	return f
}

// Apart is the process of the hub; nil unless it was started with StartApart.
func (f *Fleet) Apart() *Apart { return f.apart }

// HubDir is the hub's folder.
func (f *Fleet) HubDir() string { return filepath.Join(f.dir, "hub") }

// Addr is where the hub listens.
func (f *Fleet) Addr() string { return f.addr }

// Hub is the running hub.
func (f *Fleet) Hub() *hub.Hub { return f.hub }

// StartHub starts the hub, at the same address as before.
func (f *Fleet) StartHub() {
	f.t.Helper()
	var err error
	if f.hub, err = hub.Open(f.HubDir(), f.opt); err != nil {
		f.t.Fatal(err)
	}
	l := f.listen()
	if addr := l.Addr().String(); addr != f.addr { // the first time; lines look at it later
		f.addr = addr
	}
	ctx, end := context.WithCancel(context.Background())
	f.end, f.ended = end, make(chan error, 1)
	running, ended := f.hub, f.ended
	go func() { ended <- running.Serve(ctx, l) }()
}

// listen takes the address; after a stop the system may hold it for a moment.
func (f *Fleet) listen() net.Listener {
	f.t.Helper()
	var l net.Listener
	f.Until("the hub's address is free", func() bool {
		var err error
		l, err = net.Listen("tcp", f.addr)
		return err == nil
	})
	return l
}

// StopHub stops the hub; it may be stopped already.
func (f *Fleet) StopHub() {
	if f.hub == nil {
		return
	}
	if err := f.stopServing(); err != nil {
		f.t.Errorf("hub: %v", err)
	}
	if err := f.hub.Close(); err != nil {
		f.t.Errorf("close the hub: %v", err)
	}
	f.hub = nil
}

func (f *Fleet) stopServing() error {
	if f.apart != nil {
		return f.apart.stop()
	}
	f.end()
	return <-f.ended
}

// Invite is an invite for a machine of person, with the right to write in the
// space team.
func (f *Fleet) Invite(person string) string {
	f.t.Helper()
	return f.InviteAt(person, f.addr)
}

// InviteAt is Invite for a machine that reaches the hub at another address.
func (f *Fleet) InviteAt(person, addr string) string {
	f.t.Helper()
	i, err := f.hub.Admin().Invite(f.t.Context(), admin.Caller{}, admin.InviteRequest{
		Person: person, Spaces: []string{"team"}, Role: devices.Write, Addr: addr,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return i.Invite
}

// Until waits until a condition holds.
func (f *Fleet) Until(what string, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	f.t.Fatalf("it never came to that: %s", what)
}
