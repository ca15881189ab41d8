package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
)

// A File is a log in one file that does not grow without end, for whoever has
// no folder to look after: when it is half of what it may be, it is set aside
// under its name with ".1", in place of what was there before. Any number of
// processes may append to it at once.
type File struct {
	fs   disk.FS
	path string
	most int64
	now  func() time.Time
}

// LeastFile is the least that a File may be bounded to. A record is far smaller
// than half of it.
const LeastFile = 1 << 20

// NewFile is the log at path, which with what is set aside has at most so many
// bytes, LeastFile or more. now is the clock.
func NewFile(fsys disk.FS, path string, most int64, now func() time.Time) *File {
	return &File{fs: fsys, path: path, most: max(most, LeastFile), now: now}
}

// Append adds a record, durably, as that of a Log does. It waits for other
// processes until ctx ends.
func (f *File) Append(ctx context.Context, r Record) (err error) {
	lock, err := disk.Lock(ctx, f.path+".lock")
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	line, err := lineOf(r, event.NewTime(f.now()))
	if err != nil {
		return err
	}
	err = f.makeRoom(int64(len(line)) + 1)
	if err == nil {
		err = write(f.fs, f.path, line)
	}
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

func (f *File) makeRoom(more int64) error {
	info, err := f.fs.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is not a plain file")
	case info.Size()+more <= f.most/2:
		return nil
	}
	return f.fs.Rename(f.path, f.path+".1")
}
