package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"cairn/internal/disk"
)

// ErrInjected is what an operation fails with that was told to fail.
var ErrInjected = errors.New("injected failure")

// An FS counts operations, fails some, and knows what a power cut would leave. It is safe for concurrent use.
type FS struct {
	under disk.FS
	root  string

	mu    sync.Mutex
	ops   int
	fail  int // operation that fails
	die   int // operation from which on all fail
	syncs int
	lie   int // sync that does nothing
	model model
}

var _ disk.FS = (*FS)(nil)

// New returns an FS over the operating system's, for paths in the folder root, whose present contents count as synced.
func New(root string) (*FS, error) {
	f := &FS{under: disk.OS, root: filepath.Clean(root)}
	f.model.init()
	err := filepath.WalkDir(f.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n := &inode{dir: e.IsDir()}
		if !n.dir {
			if n.data, err = os.ReadFile(path); err != nil {
				return err
			}
			n.synced = n.data
		}
		f.model.names[path], f.model.durable[path] = n, n
		return nil
	})
	return f, err
}

// FailAt makes the n-th operation from now fail with ErrInjected; those after it work again. 0 makes none fail.
func (f *FS) FailAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.die = at(f.ops, n), 0
}

// DieAt makes the n-th operation from now and all later ones fail, as if the process were killed there.
func (f *FS) DieAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.die = 0, at(f.ops, n)
}

// LieAt makes the n-th Sync or SyncDir from now say that it is done, and do nothing. 0 makes all of them honest. It stands
// for code that leaves one out, which a proof must notice.
func (f *FS) LieAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lie = at(f.syncs, n)
}

func at(ops, n int) int {
	if n == 0 {
		return 0
	}
	return ops + n
}

// Ops returns how many operations there were so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Syncs returns how many times so far Sync or SyncDir succeeded.
func (f *FS) Syncs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncs
}

// Unsynced returns how many changes of names a power cut might undo.
func (f *FS) Unsynced() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.model.pending)
}

// step counts an operation and decides whether it fails. The caller holds mu.
func (f *FS) step(op, name string) error {
	f.ops++
	if f.ops == f.fail || f.die > 0 && f.ops >= f.die {
		return &fs.PathError{Op: op, Path: name, Err: ErrInjected}
	}
	return nil
}

// do counts an operation, performs it, and then tells the model about it.
func (f *FS) do(op, name string, perform func() error, learn func(*model)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(op, name); err != nil {
		return err
	}
	if err := perform(); err != nil {
		return err
	}
	if learn != nil {
		learn(&f.model)
	}
	return nil
}

// sync is do for what makes something safe. The real disk is not made to wait: what is safe is for the model to say.
func (f *FS) sync(name string, check func() error, learn func(*model)) error {
	return f.do("sync", name, check, func(m *model) {
		f.syncs++
		if f.syncs != f.lie {
			learn(m)
		}
	})
}

func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	name = filepath.Clean(name)
	var file disk.File
	err := f.do("open", name, func() (err error) {
		file, err = f.under.OpenFile(name, flag, perm)
		return err
	}, func(m *model) { m.open(name, flag) })
	if err != nil {
		return nil, err
	}
	return &faultFile{fs: f, under: file, node: f.nodeAt(name)}, nil
}

func (f *FS) nodeAt(name string) *inode {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.model.names[name]; n != nil {
		return n
	}
	return &inode{} // made past this FS: its contents are not followed
}

func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	name = filepath.Clean(name)
	return f.do("mkdir", name, func() error { return f.under.Mkdir(name, perm) },
		func(m *model) { m.link(name, &inode{dir: true}) })
}

func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	name = filepath.Clean(name)
	return f.do("mkdir", name, func() error { return f.under.MkdirAll(name, perm) },
		func(m *model) { m.linkAll(f.root, name) })
}

func (f *FS) Rename(oldname, newname string) error {
	oldname, newname = filepath.Clean(oldname), filepath.Clean(newname)
	return f.do("rename", newname, func() error { return f.under.Rename(oldname, newname) },
		func(m *model) { m.rename(oldname, newname) })
}

func (f *FS) Remove(name string) error {
	name = filepath.Clean(name)
	return f.do("remove", name, func() error { return f.under.Remove(name) },
		func(m *model) { m.unlink(name) })
}

func (f *FS) RemoveAll(name string) error {
	name = filepath.Clean(name)
	return f.do("remove", name, func() error { return f.under.RemoveAll(name) },
		func(m *model) { m.unlinkAll(name) })
}

func (f *FS) SyncDir(name string) error {
	name = filepath.Clean(name)
	return f.sync(name, func() error {
		_, err := f.under.Stat(name)
		return err
	}, func(m *model) { m.syncDir(name) })
}

func (f *FS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do("readdir", name, func() (err error) {
		entries, err = f.under.ReadDir(name)
		return err
	}, nil)
	return entries, err
}

func (f *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = f.do("stat", name, func() (err error) {
		info, err = f.under.Stat(name)
		return err
	}, nil)
	return info, err
}

func (f *FS) Lstat(name string) (info fs.FileInfo, err error) {
	err = f.do("lstat", name, func() (err error) {
		info, err = f.under.Lstat(name)
		return err
	}, nil)
	return info, err
}

func (f *FS) Chmod(name string, perm fs.FileMode) error {
	return f.do("chmod", name, func() error { return f.under.Chmod(name, perm) }, nil)
}

// Crash builds in dir, which must not exist, what would be found in the root after a power cut at this moment.
func (f *FS) Crash(dir string, s Survival) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.model.after(s.Names) {
		rel, err := filepath.Rel(f.root, n.path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, rel)
		if n.node.dir {
			err = os.Mkdir(target, 0o755)
		} else {
			err = os.WriteFile(target, n.node.after(s.of(n.path)), 0o644)
		}
		if err != nil {
			return fmt.Errorf("rebuild after the crash: %w", err)
		}
	}
	return nil
}
