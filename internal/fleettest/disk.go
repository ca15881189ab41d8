package fleettest

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"cairn/internal/disk"
)

// A Disk is the system's file system, with its waits left out, that can be full or gone. It is safe for concurrent use.
type Disk struct {
	disk.FS
	state atomic.Int32
}

// The states of a Disk.
const (
	diskGood int32 = iota
	diskFull
	diskGone
)

func newDisk() *Disk { return &Disk{FS: disk.OS} }

// Fill makes everything fail that needs room; Empty ends that.
func (d *Disk) Fill() { d.state.Store(diskFull) }

// Empty makes room again.
func (d *Disk) Empty() { d.state.Store(diskGood) }

// lose makes everything fail for good, as it is for a process that was killed.
func (d *Disk) lose() { d.state.Store(diskGone) }

var errKilled = errors.New("the process was killed")

// check is why an operation fails that reads, or that needs room.
func (d *Disk) check(op, name string, room bool) error {
	switch state := d.state.Load(); {
	case state == diskGone:
		return &fs.PathError{Op: op, Path: name, Err: errKilled}
	case state == diskFull && room:
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

// OpenFile fails on a full disk if it has to create the file.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	creates := false
	if flag&os.O_CREATE != 0 {
		_, err := d.FS.Lstat(name)
		creates = err != nil
	}
	if err := d.check("open", name, creates); err != nil {
		return nil, err
	}
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &diskFile{f, d}, nil
}

// Mkdir needs room.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	if err := d.check("mkdir", name, true); err != nil {
		return err
	}
	return d.FS.Mkdir(name, perm)
}

// MkdirAll needs room unless everything is there.
func (d *Disk) MkdirAll(name string, perm fs.FileMode) error {
	info, err := d.FS.Stat(name)
	if err := d.check("mkdir", name, err != nil || !info.IsDir()); err != nil {
		return err
	}
	return d.FS.MkdirAll(name, perm)
}

// Rename works on a full disk.
func (d *Disk) Rename(from, to string) error {
	if err := d.check("rename", to, false); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

// Remove works on a full disk.
func (d *Disk) Remove(name string) error {
	if err := d.check("remove", name, false); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

// RemoveAll works on a full disk.
func (d *Disk) RemoveAll(name string) error {
	if err := d.check("remove", name, false); err != nil {
		return err
	}
	return d.FS.RemoveAll(name)
}

// SyncDir waits for nothing.
func (d *Disk) SyncDir(name string) error { return d.check("sync", name, false) }

type diskFile struct {
	disk.File
	d *Disk
}

// Write gets half of its bytes out if the disk is full.
func (f *diskFile) Write(b []byte) (int, error) {
	if err := f.d.check("write", f.Name(), true); err != nil {
		n, werr := f.File.Write(b[:f.room(b)])
		return n, errors.Join(err, werr)
	}
	return f.File.Write(b)
}

// WriteAt is as Write.
func (f *diskFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.d.check("write", f.Name(), true); err != nil {
		n, werr := f.File.WriteAt(b[:f.room(b)], at)
		return n, errors.Join(err, werr)
	}
	return f.File.WriteAt(b, at)
}

// room is how much of b still gets out.
func (f *diskFile) room(b []byte) int {
	if f.d.state.Load() == diskGone {
		return 0
	}
	return len(b) / 2
}

// Sync waits for nothing.
func (f *diskFile) Sync() error { return f.d.check("sync", f.Name(), false) }

// Truncate needs room if it makes the file longer.
func (f *diskFile) Truncate(size int64) error {
	info, err := f.File.Stat()
	if err != nil {
		return err
	}
	if err := f.d.check("truncate", f.Name(), size > info.Size()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
