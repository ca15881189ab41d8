package gitstore

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/disk"
)

// A pendingFile is git's way to change a file safely: NAME.lock, created exclusively, is the lock and the new contents in
// one, and is renamed over NAME.
type pendingFile struct {
	s    *Store
	fs   disk.FS
	f    disk.File
	path string // the file to be replaced
}

// bootMargin allows for clocks that are set while the system starts.
const bootMargin = time.Minute

// lockFile creates the lock file of path. While another program has it, it waits for the store's refWait, then fails with
// a *RefLockedError.
func (s *Store) lockFile(path string) (*pendingFile, error) {
	name := path + ".lock"
	deadline := time.Now().Add(s.refWait)
	pause := time.Millisecond
	for {
		f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return &pendingFile{s: s, fs: s.fs, f: f, path: path}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		removed, err := s.removeIfOlderThanSystem(name)
		if err != nil {
			return nil, err
		}
		if removed {
			continue
		}
		if time.Now().After(deadline) {
			return nil, &RefLockedError{Path: name}
		}
		time.Sleep(pause + rand.N(pause))
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// removeIfOlderThanSystem removes a lock file from before the system was started: a power cut ended whoever made it.
func (s *Store) removeIfOlderThanSystem(lock string) (removed bool, err error) {
	info, err := s.fs.Lstat(lock)
	if err != nil {
		return false, ignoreNotExist(err)
	}
	boot, err := disk.BootTime()
	if err != nil || info.ModTime().After(boot.Add(-bootMargin)) {
		return false, err
	}
	return true, ignoreNotExist(s.fs.Remove(lock))
}

// commit makes data the contents of the file and lets go of the lock. On an error the file is as it was, except when only
// the last step failed, syncing the directory: then it may be new or old after a power cut.
func (p *pendingFile) commit(data []byte) error {
	if err := p.write(data); err != nil {
		return err
	}
	if err := p.f.Sync(); err != nil {
		return errors.Join(err, p.abandon())
	}
	if err := p.replace(); err != nil {
		return err
	}
	return p.fs.SyncDir(filepath.Dir(p.path))
}

// commitLater is commit without waiting for the disk.
func (p *pendingFile) commitLater(data []byte) error {
	if err := p.write(data); err != nil {
		return err
	}
	return p.replace()
}

func (p *pendingFile) write(data []byte) error {
	if _, err := p.f.Write(data); err != nil {
		return errors.Join(err, p.abandon())
	}
	return nil
}

func (p *pendingFile) replace() error {
	if err := p.f.Close(); err != nil {
		return errors.Join(err, p.remove())
	}
	if err := p.fs.Rename(p.f.Name(), p.path); err != nil {
		return errors.Join(err, p.remove())
	}
	return nil
}

// abandon lets go of the lock and leaves the file as it was.
func (p *pendingFile) abandon() error {
	return errors.Join(p.f.Close(), p.remove())
}

// remove removes the lock file, or sees to it that the next holder of the append lock does.
func (p *pendingFile) remove() error {
	err := p.fs.Remove(p.f.Name())
	if err != nil {
		p.s.lockLeft.Store(true)
	}
	return err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
