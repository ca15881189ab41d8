package devices

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// FileName is the member list in a hub's folder.
const FileName = "members.json"

// lockName is never renamed or removed; whoever changes the list holds it.
const lockName = "members.lock"

// A Store keeps the members of one hub in a file. Any number of processes may
// have the same one open. It is safe for concurrent use.
type Store struct {
	fs  disk.FS
	dir string

	known   atomic.Pointer[reading]
	reading sync.Mutex // held to read and to replace known
}

// racyTime is how long after a change of a file another one may leave its time as it is, where clocks are coarse.
const racyTime = 2 * time.Second

// A reading is the list as it was read.
type reading struct {
	file    fs.FileInfo // before it was read
	at      time.Time   // of that look
	raw     []byte
	members *Members // what raw says
}

// isOf says whether the file has certainly not been changed or replaced since.
func (r *reading) isOf(file fs.FileInfo) bool {
	return os.SameFile(file, r.file) && file.Size() == r.file.Size() && file.ModTime().Equal(r.file.ModTime())
}

// settled says whether a later change of the file would show.
func (r *reading) settled() bool { return r.at.Sub(r.file.ModTime()) > racyTime }

// Create writes an empty member list into the folder dir, unless there is one.
func Create(ctx context.Context, fsys disk.FS, dir string) (err error) {
	lock, err := disk.Lock(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return fmt.Errorf("create the member list: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	path := filepath.Join(dir, FileName)
	if _, err := fsys.Lstat(path); err == nil {
		return nil
	}
	return write(fsys, path, &Members{})
}

// Open reads the member list in dir. Errors: *CorruptError, or one of the file
// system.
func Open(fsys disk.FS, dir string) (*Store, error) {
	s := &Store{fs: fsys, dir: dir}
	_, err := s.Now()
	return s, err
}

// Now is the list as it is on disk at this moment. Do not change it.
func (s *Store) Now() (*Members, error) {
	// Every login and command asks, the hostile ones too: nobody waits for another one's look at a list that is as it was.
	if r := s.known.Load(); r != nil && r.settled() {
		if file, err := s.fs.Stat(s.path()); err == nil && r.isOf(file) {
			return r.members, nil
		}
	}
	asked := time.Now()
	s.reading.Lock()
	defer s.reading.Unlock()
	if r := s.known.Load(); r != nil && r.at.After(asked) {
		return r.members, nil // another one has read it since
	}
	next := reading{at: time.Now()}
	var err error
	if next.file, err = s.fs.Stat(s.path()); err == nil {
		next.raw, err = disk.ReadFile(s.fs, s.path())
	}
	if err != nil {
		return nil, fmt.Errorf("read the member list: %w", err)
	}
	if r := s.known.Load(); r != nil && bytes.Equal(next.raw, r.raw) {
		next.members = r.members
	} else if next.members, err = decode(next.raw); err != nil {
		return nil, &CorruptError{Path: s.path(), Err: err}
	}
	s.known.Store(&next)
	return next.members, nil
}

// Change applies change to the newest list and stores the outcome, while no
// other process can do the same. If change fails nothing is stored and its
// error comes back as it is.
func (s *Store) Change(ctx context.Context, change func(*Members) error) (err error) {
	lock, err := disk.Lock(ctx, filepath.Join(s.dir, lockName))
	if err != nil {
		return fmt.Errorf("change the member list: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	now, err := s.Now()
	if err != nil {
		return err
	}
	next := now.clone()
	if err := change(next); err != nil {
		return err
	}
	return write(s.fs, s.path(), next)
}

func write(fsys disk.FS, path string, m *Members) error {
	return atomicfile.WriteJSON(fsys, path, file{format, m.People(), m.Devices(), m.Invites()}, " ", 0o600)
}

func (s *Store) path() string { return filepath.Join(s.dir, FileName) }
