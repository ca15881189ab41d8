package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/history"
)

// A leased remote remembers what each device pushed last.
type leased interface {
	// Device is what this machine is for the remote at this moment.
	Device() event.DeviceID
}

// keptPushes is how many pushes a machine remembers: more than a hub forgets in
// a power cut, and all those to which it may have heard no answer.
const keptPushes = 16

// A lease is this machine's memory of what it pushed, in a file outside the
// repository: a copy of the home, or an older one from a backup, has not got
// the newest of it. It is not safe for concurrent use.
type lease struct {
	fs     disk.FS
	path   string
	remote leased
	known  *pushes // nil before the first use
}

// pushes is the file.
type pushes struct {
	Device event.DeviceID `json:"device"`
	Epoch  uint64         `json:"epoch"`  // of the space, to which the commits belong
	Pushed []string       `json:"pushed"` // commits, newest last; the remote may not have taken the last ones
}

// newLease is nil for a remote that remembers nothing.
func newLease(opt Options) *lease {
	remote, ok := opt.Remote.(leased)
	if !ok || opt.Lease == "" {
		return nil
	}
	return &lease{fs: opt.LeaseFS, path: opt.Lease, remote: remote}
}

// claim notes durably that tip is about to be pushed, and returns what to say
// was pushed: that and what came before. last is what the remote has on record,
// zero for nothing. A machine that has no memory of its own, since somebody
// removed the file, takes over what is on record if it is in its history;
// otherwise it has to pull first, and the error is ErrRaced.
func (r *Replica) claim(tip, last plumbing.Hash) ([]plumbing.Hash, error) {
	epoch, err := r.opt.Log.Epoch()
	if err != nil {
		return nil, err
	}
	p, err := r.lease.load(epoch)
	if err != nil {
		return nil, err
	}
	if len(p.Pushed) == 0 && !last.IsZero() {
		if has, err := r.inHistory(last); err != nil || !has {
			return nil, errors.Join(ErrRaced, err)
		}
		p.Pushed = []string{last.String()}
	}
	p.Pushed = confirmed(p.Pushed, last.String())
	if err := r.lease.add(p, tip); err != nil {
		return nil, fmt.Errorf("note what is pushed: %w", err)
	}
	var claim []plumbing.Hash
	for _, c := range r.lease.known.Pushed {
		claim = append(claim, plumbing.NewHash(c))
	}
	return claim, nil
}

// confirmed makes last the newest, if it is among them: however many pushes were
// refused since, it is not forgotten.
func confirmed(pushed []string, last string) []string {
	at := slices.Index(pushed, last)
	if at < 0 {
		return pushed
	}
	return append(slices.Delete(slices.Clone(pushed), at, at+1), last)
}

// inHistory says whether the log holds a commit, known or not.
func (r *Replica) inHistory(commit plumbing.Hash) (bool, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return false, err
	}
	if err := r.graph.Add(head.Commit); err != nil {
		return false, err
	}
	has, err := r.graph.Ancestor(commit, head.Commit)
	if _, unknown := errors.AsType[*history.UnknownError](err); unknown {
		return false, nil
	}
	return has, err
}

// load is what this device pushed in the epoch. A file that cannot be
// understood is as good as none.
func (l *lease) load(epoch uint64) (pushes, error) {
	device := l.remote.Device()
	if l.known == nil {
		l.known = new(pushes)
		b, err := disk.ReadFile(l.fs, l.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return pushes{}, err
		}
		if err == nil && json.Unmarshal(b, l.known) != nil {
			l.known = new(pushes)
		}
	}
	if l.known.Device != device || l.known.Epoch != epoch {
		return pushes{Device: device, Epoch: epoch}, nil
	}
	return *l.known, nil
}

// add makes tip the newest of p, and p the file.
func (l *lease) add(p pushes, tip plumbing.Hash) error {
	if n := len(p.Pushed); n > 0 && p.Pushed[n-1] == tip.String() {
		return nil
	}
	p.Pushed = append(slices.Clone(p.Pushed), tip.String())
	p.Pushed = p.Pushed[max(len(p.Pushed)-keptPushes, 0):]
	if err := l.fs.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if err := atomicfile.WriteJSON(l.fs, l.path, p, "", 0o600); err != nil {
		return err
	}
	l.known = &p
	return nil
}
