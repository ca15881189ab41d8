package hubstate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cairn/agent/hubstate"
	"cairn/internal/atomicfile"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/internal/hubwire"
)

// A song is what the hub of these tests has. An even one has an echo, which is
// not in the file.
type song struct {
	Number int `json:"number"`

	echo int
}

var errOdd = errors.New("it is none, or odd")

func (s *song) read() error {
	if s.Number < 2 || s.Number%2 != 0 {
		return errOdd
	}
	s.echo = s.Number
	return nil
}

type keeper = hubstate.Keeper[song, int]

var hub = hubstate.Hub{ID: event.ID("01kk0000000000000000000000"), Fingerprint: "SHA256:one"}

func open(fsys disk.FS, path string) *keeper {
	return hubstate.Open[song, int](fsys, path, "silence is kept", (*song).read)
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "song.json") }

// An asker is a hub that is asked, which counts how often.
type asker struct {
	asked int
	says  error
}

// sing brings the number that the hub shows.
func (a *asker) sing(number int) func(*song) (*song, error) {
	return func(kept *song) (*song, error) {
		if kept != nil && kept.Number == number {
			return nil, nil
		}
		a.asked++
		if a.says != nil {
			return nil, a.says
		}
		next := &song{Number: number}
		return next, next.read()
	}
}

func (a *asker) follow(t *testing.T, k *keeper, at hubstate.Hub, number int) {
	t.Helper()
	if err := k.Follow(t.Context(), at, number, a.sing(number)); err != nil {
		t.Fatal(err)
	}
}

func is(t *testing.T, k *keeper, number int, trouble error) {
	t.Helper()
	kept, err := k.Now()
	have := 0
	if kept != nil {
		have = kept.echo
	}
	if have != number || !errors.Is(err, trouble) {
		t.Errorf("kept is %d, trouble %v; want %d, %v", have, err, number, trouble)
	}
}

func TestWhatTheHubHasIsKept(t *testing.T) {
	path := newPath(t)
	k, a := open(disk.OS, path), new(asker)
	is(t, k, 0, nil)
	for _, n := range []int{2, 2, 4, 4, 4} {
		a.follow(t, k, hub, n)
		is(t, k, n, nil)
	}
	if a.asked != 2 {
		t.Errorf("asked %d times for two of them", a.asked)
	}
	is(t, open(disk.OS, path), 4, nil)
}

// What was turned down costs one question, until the hub shows something else,
// or is another hub.
func TestWhatWasTurnedDownIsAskedForOnce(t *testing.T) {
	k, a := open(disk.OS, newPath(t)), new(asker)
	a.follow(t, k, hub, 2)
	no := errors.New("no")
	a.says = &hubstate.RefusedError{Why: no}
	asks := func(want int, at hubstate.Hub, number int) {
		t.Helper()
		before := a.asked
		for range 3 {
			a.follow(t, k, at, number)
			is(t, k, 2, no)
		}
		if a.asked != before+want {
			t.Errorf("asked %d times for %d, want %d", a.asked-before, number, want)
		}
	}
	asks(1, hub, 4)
	asks(1, hub, 6)
	asks(1, hubstate.Hub{ID: hub.ID, Fingerprint: "SHA256:two"}, 6)
	asks(1, hubstate.Hub{ID: event.ID("01kk0000000000000000000001"), Fingerprint: hub.Fingerprint}, 6)
	a.says = &hubstate.RefusedError{Why: no, Again: true}
	asks(3, hub, 8)
	asks(3, hub, 8)
	a.follow(t, k, hub, 2)
	is(t, k, 2, nil)
	a.says = nil
	a.follow(t, k, hub, 8)
	is(t, k, 8, nil)
}

// A hub that cannot be asked has refused nothing, and what it showed before
// stays as it was.
func TestAHubThatCannotBeAskedIsAnError(t *testing.T) {
	k, a := open(disk.OS, newPath(t)), new(asker)
	a.says = errors.New("gone")
	for want := range 3 {
		if err := k.Follow(t.Context(), hub, 2, a.sing(2)); !errors.Is(err, a.says) || a.asked != want+1 {
			t.Errorf("%v, asked %d times", err, a.asked)
		}
		is(t, k, 0, nil)
	}
}

func TestWhatIsNotOnDiskDoesNotCount(t *testing.T) {
	path := newPath(t)
	a := new(asker)
	a.follow(t, open(disk.OS, path), hub, 2)
	fsys, err := faultfs.New(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	k := open(fsys, path)
	fsys.FailAt(1)
	if err := k.Follow(t.Context(), hub, 4, a.sing(4)); err == nil {
		t.Error("a disk that fails is no error")
	}
	is(t, k, 2, nil)
	is(t, open(disk.OS, path), 2, nil)
	a.follow(t, k, hub, 4)
	is(t, k, 4, nil)
}

func TestADamagedFileIsTroubleUntilTheHubIsAsked(t *testing.T) {
	for _, damage := range []string{"", "{", "null", `{"number":3}`, `{"number":"4"}`, "[]"} {
		path := newPath(t)
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		k := open(disk.OS, path)
		_, trouble := k.Now()
		if damaged, ok := errors.AsType[*hubstate.DamagedError](trouble); !ok || damaged.Path != path {
			t.Errorf("%q: %v", damage, trouble)
		}
		new(asker).follow(t, k, hub, 6)
		is(t, k, 6, nil)
		is(t, open(disk.OS, path), 6, nil)
	}
}

// Of many who follow at once one asks, and who waits can give up.
func TestOneAsksAtATime(t *testing.T) {
	k, a := open(disk.OS, newPath(t)), new(asker)
	begun, gone := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- k.Follow(t.Context(), hub, 2, func(*song) (*song, error) {
			close(begun)
			<-gone
			return &song{Number: 2, echo: 2}, nil
		})
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Follow(ctx, hub, 2, a.sing(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up hears %v", err)
	}
	close(gone)
	a.follow(t, k, hub, 2)
	if err := <-ended; err != nil || a.asked != 0 {
		t.Errorf("%v; the second asked %d times", err, a.asked)
	}
}

func TestAnotherKeyIsNotTheHubs(t *testing.T) {
	key := device.FromPrivate(eventtest.Key("hub")).Public()
	h := hubstate.Hub{ID: hub.ID, Fingerprint: hubwire.Fingerprint(key)}
	if err := h.Check(key); err != nil {
		t.Error(err)
	}
	for _, other := range [][]byte{nil, key[1:], device.FromPrivate(eventtest.Key("mallory")).Public()} {
		if err := h.Check(other); !errors.Is(err, hubstate.ErrKey) {
			t.Errorf("%x: %v", other, err)
		}
	}
}

func TestAFileThatCanBeNeitherReadNorWritten(t *testing.T) {
	k := open(disk.OS, t.TempDir())
	if err := k.Follow(t.Context(), hub, 2, new(asker).sing(2)); !errors.Is(err, atomicfile.ErrNotRegular) {
		t.Errorf("%v", err)
	}
	kept, trouble := k.Now()
	if _, ok := errors.AsType[*hubstate.DamagedError](trouble); !ok || kept != nil {
		t.Errorf("kept is %v, trouble %v", kept, trouble)
	}
}
