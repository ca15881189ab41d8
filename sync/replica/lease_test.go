package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// mindful is a remote that remembers, as a hub does.
type mindful struct {
	Remote
	device event.DeviceID
	pushed []plumbing.Hash // newest last
	mute   bool            // the answer to the next push is lost
}

func (m *mindful) Device() event.DeviceID { return m.device }

func (m *mindful) Push(ctx context.Context, o Offer) (Pushed, error) {
	var last plumbing.Hash
	if n := len(m.pushed); n > 0 {
		last = m.pushed[n-1]
	}
	claim, err := o.Claim(o.Tip, last)
	if err != nil {
		return Pushed{}, err
	}
	if !last.IsZero() && !slices.Contains(claim, last) {
		return Pushed{}, &ClonedError{Device: m.device, Message: "a copy"}
	}
	pushed, err := m.Remote.Push(ctx, o)
	if err == nil {
		m.pushed = append(m.pushed, o.Tip)
	}
	if m.mute {
		m.mute = false
		return Pushed{}, offline("push", errors.New("the answer is lost"))
	}
	return pushed, err
}

// leasedMachine is a machine and the remote that remembers it.
func leasedMachine(t *testing.T) (*machine, *mindful) {
	t.Helper()
	fsys := disktest.Unsynced(disk.OS)
	remote := &mindful{Remote: Path(fsys, bare(t, "main")), device: eventtest.Device("laptop")}
	m := newMachineOn(t, fsys, remote)
	m.opt.Lease, m.opt.LeaseFS = filepath.Join(t.TempDir(), "pushed", "team.json"), fsys
	m.Replica = New(m.opt)
	return m, remote
}

// Whatever breaks off, and whatever a power cut takes of the hub's memory, the
// machine is not taken for a copy of itself; with the memory of an older copy
// it always is.
func TestOnlyACopyIsTakenForOne(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 3))
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m, remote := leasedMachine(t)
			m.save("first")
			m.sync()
			for i := range 12 {
				disturb(t, r, m, remote)
				m.save(fmt.Sprint("note ", i))
				m.exchange()
			}
			older, err := os.ReadFile(m.opt.Lease)
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + r.IntN(2*keptPushes) {
				m.save("more")
				m.sync()
			}
			if err := os.WriteFile(m.opt.Lease, older, 0o600); err != nil {
				t.Fatal(err)
			}
			m.Replica = New(m.opt)
			m.save("as a copy")
			_, err = m.Push(t.Context())
			if cloned, ok := errors.AsType[*ClonedError](err); !ok || cloned.Device != remote.device {
				t.Errorf("the copy pushed: %v", err)
			}
			remote.device = eventtest.Device("the copy's own")
			remote.pushed = nil // the hub knows nothing of it
			m.sync()
		})
	}
}

// disturb does one of the things that go wrong.
func disturb(t *testing.T, r *rand.Rand, m *machine, remote *mindful) {
	t.Helper()
	switch r.IntN(6) {
	case 0:
		remote.mute = true
	case 1:
		m.Replica = New(m.opt)
	case 2:
		remote.pushed = remote.pushed[:len(remote.pushed)-r.IntN(min(len(remote.pushed), 3))]
	case 3:
		if err := os.Remove(m.opt.Lease); err != nil {
			t.Fatal(err)
		}
		m.Replica = New(m.opt)
	}
}

// exchange syncs until an answer is heard.
func (m *machine) exchange() {
	m.t.Helper()
	for range 3 {
		_, err := m.Pull(context.Background())
		if err == nil {
			_, err = m.Push(context.Background())
		}
		if err == nil {
			return
		}
		if !IsOffline(err) {
			m.t.Fatal(err)
		}
	}
}

// A machine that forgot, and has not fetched what it pushed once, fetches it
// first.
func TestAMachineThatForgotPullsBeforeItPushes(t *testing.T) {
	m, remote := leasedMachine(t)
	m.save("one")
	m.sync()
	other := newMachineOn(t, m.opt.LeaseFS, remote.Remote)
	other.save("two")
	other.sync()
	remote.pushed = append(remote.pushed, other.head())
	if err := os.Remove(m.opt.Lease); err != nil {
		t.Fatal(err)
	}
	m.Replica = New(m.opt)
	m.save("three")
	if _, err := m.Push(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.has("one", "three", "two")
}

func TestWithoutADiskNothingIsPushed(t *testing.T) {
	m, remote := leasedMachine(t)
	m.save("one")
	dir := filepath.Dir(m.opt.Lease)
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // where the folder should be
		t.Fatal(err)
	}
	if _, err := m.Push(t.Context()); err == nil || len(remote.pushed) > 0 {
		t.Errorf("pushed %v, %v", remote.pushed, err)
	}
}
