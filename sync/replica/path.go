package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/history"
)

// Path is a bare repository on this machine as a remote. A folder that is
// missing or empty becomes one at the first push; later it is taken for a disk
// that is not there.
func Path(fsys disk.FS, dir string) Remote { return &pathRemote{fsys, dir} }

type pathRemote struct {
	fs  disk.FS
	dir string
}

// with opens the repository for one exchange. An empty folder is no
// repository yet and gives a nil store.
func (p *pathRemote) with(met, make bool, fn func(*gitstore.Store) error) (err error) {
	empty, err := p.empty()
	if err == nil && empty && met {
		err = errGone
	}
	if err != nil {
		return offline("reach the repository "+p.dir, err)
	}
	if empty && !make {
		return fn(nil)
	}
	if empty {
		if err := gitstore.Init(p.fs, p.dir); err != nil {
			return fmt.Errorf("make the repository %s: %w", p.dir, err)
		}
	}
	s, err := gitstore.Open(p.fs, p.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(s)
}

var errGone = errors.New("it was there and is not any more; if that is meant, remove this remote and add it again")

func (p *pathRemote) empty() (bool, error) {
	entries, err := p.fs.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		// A missing parent is a disk that is not mounted, not an empty folder.
		_, err := p.fs.Stat(filepath.Dir(p.dir))
		return true, err
	}
	return len(entries) == 0, err
}

// branch is the repository's branch that holds the space, and its commit.
func (p *pathRemote) branch(s *gitstore.Store) (string, plumbing.Hash, error) {
	main, err := s.Ref(event.MainRef)
	if err == nil {
		return event.MainRef, main, nil
	}
	if !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", plumbing.ZeroHash, err
	}
	head, err := s.Head()
	return head.Ref, head.Commit, err
}

func (p *pathRemote) Fetch(ctx context.Context, want Want) (head plumbing.Hash, err error) {
	err = p.with(want.Met, false, func(s *gitstore.Store) error {
		if s == nil {
			return nil
		}
		if _, head, err = p.branch(s); err != nil || head.IsZero() {
			return err
		}
		if has, err := want.Has(head); err != nil || has {
			return err
		}
		graph := history.Open(s)
		if err := graph.Add(head); err != nil {
			return err
		}
		ids, err := history.NewObjects(ctx, s, graph, []plumbing.Hash{head}, want.Haves)
		if err != nil {
			return err
		}
		return transfer(ctx, func(w io.Writer) error { return s.EncodePack(w, ids) }, want.Receive)
	})
	return head, err
}

func (p *pathRemote) Push(ctx context.Context, o Offer) (Pushed, error) {
	return Pushed{}, p.with(o.Met, true, func(s *gitstore.Store) error {
		if err := p.noHooks(); err != nil {
			return err
		}
		return inPortions(func(most int) (Portion, error) { return p.pushNext(ctx, s, o, most) })
	})
}

// pushNext stores one portion.
func (p *pathRemote) pushNext(ctx context.Context, s *gitstore.Store, o Offer, most int) (Portion, error) {
	branch, head, err := p.branch(s)
	if err != nil {
		return Portion{}, err
	}
	var haves []plumbing.Hash
	if !head.IsZero() {
		follows, err := o.Follows(head)
		if err == nil && !follows {
			err = ErrRaced
		}
		if err != nil {
			return Portion{}, err
		}
		haves = append(haves, head)
	}
	next, err := o.Next(ctx, Taker{Haves: haves, Onto: head, Most: most})
	if err != nil {
		return next, err
	}
	return next, p.store(ctx, s, next, branch, head)
}

func (p *pathRemote) store(ctx context.Context, s *gitstore.Store, next Portion, branch string, head plumbing.Hash) (err error) {
	q, err := s.Quarantine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	err = transfer(ctx, next.Pack, func(ctx context.Context, r io.Reader) error { return q.Receive(ctx, r, gitstore.Limits{}) })
	if err != nil {
		return err
	}
	if err := q.Publish(); err != nil {
		return err
	}
	err = s.UpdateRef(branch, head, next.Tip)
	if errors.Is(err, gitstore.ErrRefChanged) {
		return ErrRaced
	}
	return err
}

// noHooks refuses to push past a repository's own hooks, which only git runs.
func (p *pathRemote) noHooks() error {
	for _, name := range []string{"pre-receive", "update", "post-receive", "reference-transaction"} {
		info, err := p.fs.Stat(filepath.Join(p.dir, "hooks", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode()&0o111 != 0 {
			return &RefusedError{Message: "the repository " + p.dir + " has a " + name + " hook, which is not run for a push by path: use its ssh address instead"}
		}
	}
	return nil
}

// transfer runs both ends of a pack.
func transfer(ctx context.Context, write func(io.Writer) error, read func(context.Context, io.Reader) error) error {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		done <- err
	}()
	err := read(ctx, r)
	r.CloseWithError(os.ErrClosed)
	if werr := <-done; err == nil {
		err = werr
	}
	return err
}
