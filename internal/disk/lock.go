package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// recordSize is the length of a lock file. The record in it is rewritten in place and never changes its length, so
// that taking a lock costs no change of the file system's own tables.
const recordSize = 1024

// lockPerm is what a lock file is created with, less the umask.
const lockPerm = 0o644

// A LockedError means that somebody else, in this process or another one, holds the lock. Try again later, or name the
// process to the user.
type LockedError struct {
	Path string
	PID  int // the process that took the lock last, as it wrote it down itself; 0 if unknown
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Path, e.PID)
}

// A FileLock is an exclusive lock between processes, held on a file. The operating system releases it when the process
// ends, however it ends. Its methods are not safe for concurrent use.
type FileLock struct {
	file  *os.File
	queue *lockQueue
	left  string
}

// Lock takes the exclusive lock on the file at path, which is created if it is missing, and waits for it until ctx ends.
// Callers in one process are served in order, processes in the order in which the system wakes them. The file must never
// be renamed or deleted: a lock on a deleted file excludes nobody. The caller calls Unlock.
//
// If ctx ends first the error is that of ctx and a *LockedError (errors.Is, errors.As).
func Lock(ctx context.Context, path string) (*FileLock, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	q, err := queueFor(path)
	if err != nil {
		return nil, err
	}
	return q.wait(ctx)
}

// TryLock is Lock without waiting: if the lock is taken the error is a *LockedError.
func TryLock(path string) (*FileLock, error) {
	q, err := queueFor(path)
	if err != nil {
		return nil, err
	}
	return q.try()
}

// Left returns the note that was in the lock file when this lock was taken. A note stays until SetNote replaces it, also
// when its writer was killed.
func (l *FileLock) Left() string { return l.left }

// SetNote writes a note about what the holder is doing into the lock file, for whoever holds the lock next. A holder that
// is done with it sets an empty one. A note is not synced: it outlives the process, not a power cut.
func (l *FileLock) SetNote(note string) error {
	if err := writeRecord(l.file, note); err != nil {
		return fmt.Errorf("write a note into %s: %w", l.file.Name(), err)
	}
	return nil
}

// Unlock releases the lock. It must be called exactly once.
func (l *FileLock) Unlock() error { return l.queue.release(l.file) }

// newFileLock reads what the last holder left and signs the file with our process id.
func newFileLock(f *os.File, q *lockQueue) (*FileLock, error) {
	pid, note := readRecord(f)
	l := &FileLock{file: f, queue: q, left: note}
	if pid == os.Getpid() {
		return l, nil
	}
	if err := writeRecord(f, note); err != nil {
		return nil, errors.Join(fmt.Errorf("sign %s: %w", f.Name(), err), q.release(f))
	}
	return l, nil
}

func writeRecord(f *os.File, note string) error {
	record := fmt.Appendf(nil, "pid %d\n%s\n", os.Getpid(), note)
	if len(record) > recordSize {
		return fmt.Errorf("the note has %d bytes, too many for a lock file", len(note))
	}
	record = append(record, bytes.Repeat([]byte{'\n'}, recordSize-len(record))...)
	_, err := f.WriteAt(record, 0)
	return err
}

// readRecord returns zero values for a file that holds no record, such as one that was just created.
func readRecord(f *os.File) (pid int, note string) {
	var b [recordSize]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && n == 0 {
		return 0, ""
	}
	first, rest, _ := strings.Cut(string(b[:n]), "\n")
	pid, err = strconv.Atoi(strings.TrimPrefix(first, "pid "))
	if err != nil {
		return 0, ""
	}
	return pid, strings.TrimSpace(rest)
}

func lockedError(path string) error {
	e := &LockedError{Path: path}
	if f, err := os.Open(path); err == nil {
		e.PID, _ = readRecord(f)
		f.Close()
	}
	return e
}

func openLockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, lockPerm)
}

// queues holds the queue of every path that this process holds, waits for or has been asked about.
var queues = struct {
	sync.Mutex
	byPath map[string]*lockQueue
}{byPath: map[string]*lockQueue{}}

func queueFor(path string) (*lockQueue, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	queues.Lock()
	defer queues.Unlock()
	q := queues.byPath[abs]
	if q == nil {
		q = &lockQueue{path: abs}
		queues.byPath[abs] = q
	}
	return q, nil
}
