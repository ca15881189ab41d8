package countfs

import (
	"io/fs"
	"sync/atomic"

	"cairn/internal/disk"
)

// A Count is what was asked of a file system.
type Count struct {
	Looks   int64 // files opened, names looked up, directories listed
	Reads   int64 // calls that read from a file
	Read    int64 // bytes that they returned
	Writes  int64 // calls that wrote to a file
	Written int64 // bytes that they wrote
	Changes int64 // names made, changed or removed
	Syncs   int64 // waits for the device, of files and of directories
}

// Sub is what was asked since earlier.
func (c Count) Sub(earlier Count) Count {
	return Count{
		Looks: c.Looks - earlier.Looks, Reads: c.Reads - earlier.Reads, Read: c.Read - earlier.Read,
		Writes: c.Writes - earlier.Writes, Written: c.Written - earlier.Written,
		Changes: c.Changes - earlier.Changes, Syncs: c.Syncs - earlier.Syncs,
	}
}

// An FS counts. It is safe for concurrent use.
type FS struct {
	under                                               disk.FS
	looks, reads, read, writes, written, changes, syncs atomic.Int64
}

var _ disk.FS = (*FS)(nil)

// New returns an FS over another one.
func New(under disk.FS) *FS { return &FS{under: under} }

// Count is what was asked so far.
func (f *FS) Count() Count {
	return Count{
		Looks: f.looks.Load(), Reads: f.reads.Load(), Read: f.read.Load(),
		Writes: f.writes.Load(), Written: f.written.Load(),
		Changes: f.changes.Load(), Syncs: f.syncs.Load(),
	}
}

func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f.looks.Add(1)
	file, err := f.under.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &counted{file, f}, nil
}

func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.changes.Add(1)
	return f.under.Mkdir(name, perm)
}

func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	f.changes.Add(1)
	return f.under.MkdirAll(name, perm)
}

func (f *FS) Rename(oldname, newname string) error {
	f.changes.Add(1)
	return f.under.Rename(oldname, newname)
}

func (f *FS) Remove(name string) error {
	f.changes.Add(1)
	return f.under.Remove(name)
}

func (f *FS) RemoveAll(name string) error {
	f.changes.Add(1)
	return f.under.RemoveAll(name)
}

func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.looks.Add(1)
	return f.under.ReadDir(name)
}

func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.looks.Add(1)
	return f.under.Stat(name)
}

func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	f.looks.Add(1)
	return f.under.Lstat(name)
}

func (f *FS) Chmod(name string, perm fs.FileMode) error {
	f.changes.Add(1)
	return f.under.Chmod(name, perm)
}

func (f *FS) SyncDir(name string) error {
	f.syncs.Add(1)
	return f.under.SyncDir(name)
}

// counted is an open file of an FS.
type counted struct {
	disk.File
	fs *FS
}

func (c *counted) didRead(n int) {
	c.fs.reads.Add(1)
	c.fs.read.Add(int64(n))
}

func (c *counted) didWrite(n int) {
	c.fs.writes.Add(1)
	c.fs.written.Add(int64(n))
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	c.didRead(n)
	return n, err
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(b, at)
	c.didRead(n)
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.File.Write(b)
	c.didWrite(n)
	return n, err
}

func (c *counted) WriteAt(b []byte, at int64) (int, error) {
	n, err := c.File.WriteAt(b, at)
	c.didWrite(n)
	return n, err
}

func (c *counted) Sync() error {
	c.fs.syncs.Add(1)
	return c.File.Sync()
}
