package fleettest_test

import (
	"testing"
	"time"

	"cairn/hub"
	"cairn/internal/fleettest"
	"cairn/sync/replica"
)

// After a sleep, or a change of network, the connection is there and nothing
// comes over it any more, in either direction. The machine finds that out by
// itself, and what was missed arrives both ways.
func TestAConnectionThatFellSilentIsReplaced(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Wired("a", "ana"), f.Joined("b", "bo")
	a.Stop()
	a.Patience = replica.Patience{Every: 200 * time.Millisecond, Answer: time.Second, Look: 50 * time.Millisecond}
	a.Start()
	want := []string{"before"}
	b.Note("team", "before")
	a.Has("team", want...)
	for _, text := range []string{"once", "and again"} {
		a.Line.Freeze()
		b.Note("team", "for a "+text)
		a.Note("team", "from a "+text)
		want = append(want, "for a "+text, "from a "+text)
		a.Has("team", want...)
		b.Has("team", want...)
	}
	settled(t, f, "team", want, a, b)
}

// The known-bad sample of the test above: a machine that never asks for a sign
// of life hears nothing of what others save.
func TestWithoutKeepAliveASilentConnectionStaysSilent(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Wired("a", "ana"), f.Joined("b", "bo")
	a.Stop()
	a.Patience = replica.Patience{Every: time.Hour, Answer: time.Hour}
	a.Start()
	b.Note("team", "before")
	a.Has("team", "before")
	a.Line.Freeze()
	b.Note("team", "after")
	f.Until("the hub has it", func() bool { return space(t, b, "team").Ahead == 0 })
	time.Sleep(2 * time.Second)
	a.Has("team", "before")
}

// The hub gets another address while machines watch it. Whoever has an invite
// with the new one goes on there, with the watch and all that waited.
func TestAHubThatMovesIsFoundWithANewInvite(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Wired("a", "ana"), f.Joined("b", "bo")
	key := device(t, a)
	a.Note("team", "at the old address")
	b.Has("team", "at the old address")
	a.Line.Cut() // for good
	moved := fleettest.NewLine(t, f.Addr)
	b.Note("team", "while it moved")
	a.Note("team", "saved meanwhile")
	a.Join(f.InviteAt("ana", moved.Addr()))
	want := []string{"at the old address", "while it moved", "saved meanwhile"}
	a.Has("team", want...)
	b.Has("team", want...)
	b.Note("team", "told by the watch")
	want = append(want, "told by the watch")
	a.Has("team", want...)
	if device(t, a) != key {
		t.Error("it is another device now")
	}
	a.Stop()
	a.Start()
	b.Note("team", "after a restart")
	a.Has("team", append(want, "after a restart")...)
}
