package repository

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/gitwire"
)

// leases knows what each device pushed last to a space, to find out when a
// machine was copied together with its key. It is kept beside the repositories,
// in a file that may be lost: a device without a record is taken at its word.
// It is safe for concurrent use.
type leases struct {
	fs   disk.FS
	path string
	log  *slog.Logger

	changing sync.Mutex // held from a look at last until it is replaced, and the file with it
	last     atomic.Pointer[lastPushes]
}

// lastPushes is the file. It is not changed once it is one's last.
type lastPushes struct {
	Epoch   uint64                    `json:"epoch"` // of the space, to which the rest belongs
	Devices map[event.DeviceID]string `json:"devices"`
}

// of is what is on record for a device in an epoch, zero for nothing. It waits
// for no record that is being written: every push asks before it begins.
func (l *leases) of(epoch uint64, device event.DeviceID) plumbing.Hash {
	last := l.last.Load()
	if last == nil || last.Epoch != epoch {
		l.changing.Lock()
		defer l.changing.Unlock()
		last = l.load(epoch)
	}
	return plumbing.NewHash(last.Devices[device])
}

// record notes what a device is about to have pushed.
func (l *leases) record(epoch uint64, device event.DeviceID, commit plumbing.Hash) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	next := &lastPushes{Epoch: epoch, Devices: maps.Clone(l.load(epoch).Devices)}
	next.Devices[device] = commit.String()
	if err := l.write(next); err != nil {
		return err
	}
	l.last.Store(next)
	return nil
}

// load makes last that of an epoch, from the file before the first use. Called
// with changing held.
func (l *leases) load(epoch uint64) *lastPushes {
	last := l.last.Load()
	if last == nil {
		last = l.read()
	}
	if last.Epoch != epoch || last.Devices == nil {
		last = &lastPushes{Epoch: epoch, Devices: map[event.DeviceID]string{}}
	}
	l.last.Store(last)
	return last
}

// read takes a file that it cannot understand, as a power cut may leave it, for
// none.
func (l *leases) read() *lastPushes {
	last := new(lastPushes)
	b, err := disk.ReadFile(l.fs, l.path)
	if err == nil {
		err = json.Unmarshal(b, last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Warn("read what the devices pushed last", "err", err)
		return new(lastPushes)
	}
	return last
}

// write replaces the file. It is not made durable: no push waits for what may
// be lost.
func (l *leases) write(last *lastPushes) (err error) {
	b, err := json.Marshal(last)
	if err != nil {
		return err
	}
	dir := filepath.Dir(l.path)
	if err := l.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := disk.CreateTemp(l.fs, dir, "."+filepath.Base(l.path)+".*.tmp", 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, l.fs.Remove(f.Name()))
	}
	return l.fs.Rename(f.Name(), l.path)
}

// lease is the capability that tells the pusher what is on record.
func (r *Repository) lease(by Pusher) (gitwire.Capabilities, error) {
	epoch, err := r.log.Epoch()
	if err != nil {
		return nil, asProblem(err)
	}
	caps := slices.Clone(gitwire.PushCaps)
	return append(caps, hubwire.FormatLease([20]byte(r.leases.of(epoch, by.Device)))), nil
}

// A claimant is who pushes, and what they say that they pushed before: nothing,
// if it is stock git.
type claimant struct {
	device event.DeviceID
	claim  []plumbing.Hash
}

func claimantOf(device event.DeviceID, options []string) claimant {
	c := claimant{device: device}
	for _, o := range options {
		if commit, ok := hubwire.ParseLease(o); ok {
			c.claim = append(c.claim, commit)
		}
	}
	return c
}

// lend checks the claim of a landing against what is on record, and puts its
// commit there. A record of what the chain does not hold, as after a power cut,
// counts for nothing.
func (b *batch) lend(l *landing) (*no, error) {
	if len(l.by.claim) == 0 {
		return nil, nil
	}
	epoch, err := b.r.log.Epoch()
	if err != nil {
		return nil, err
	}
	last := b.r.leases.of(epoch, l.by.device)
	if b.graph.Has(last) && !slices.Contains(l.by.claim, last) {
		held, err := b.graph.Ancestor(last, b.tip)
		if err != nil {
			return nil, err
		}
		if held {
			return noClone, nil
		}
	}
	return nil, b.r.leases.record(epoch, l.by.device, l.cmd.New)
}

var noClone = &no{
	rule: hubwire.RuleClone, reason: "another copy of this machine pushed with its key",
	advice: "this device's key is used by another copy of the machine, or the machine was restored from a backup: cairn makes a new key for it by itself; with stock git push without -o cairn-last",
}

// leasePath is where the leases of the repository in dir lie.
func (s *Set) leasePath(dir string) string {
	below, err := filepath.Rel(s.dir, dir)
	if err != nil { // both come from s.dir
		below = filepath.Base(dir)
	}
	return filepath.Join(s.dir, leaseDir, below[:len(below)-len(suffix)]+".json")
}

const leaseDir = "leases"
