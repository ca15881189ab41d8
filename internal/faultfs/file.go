package faultfs

import (
	"io"
	"io/fs"

	"cairn/internal/disk"
)

// A faultFile is an open file of an FS. Its node is guarded by the FS's mutex.
type faultFile struct {
	fs    *FS
	under disk.File
	node  *inode
	pos   int64 // where Write goes on
}

func (f *faultFile) Name() string { return f.under.Name() }

func (f *faultFile) Read(b []byte) (n int, err error) {
	err = f.fs.do("read", f.Name(), func() (err error) {
		n, err = f.under.Read(b)
		f.pos += int64(n)
		return err
	}, nil)
	return n, err
}

func (f *faultFile) ReadAt(b []byte, at int64) (n int, err error) {
	err = f.fs.do("read", f.Name(), func() (err error) {
		n, err = f.under.ReadAt(b, at)
		return err
	}, nil)
	return n, err
}

func (f *faultFile) Write(b []byte) (int, error) {
	n, err := f.write(b, f.pos, f.under.Write)
	f.pos += int64(n)
	return n, err
}

func (f *faultFile) WriteAt(b []byte, at int64) (int, error) {
	return f.write(b, at, func(b []byte) (int, error) { return f.under.WriteAt(b, at) })
}

// write fails after half of the bytes, as a disk does that is full.
func (f *faultFile) write(b []byte, at int64, write func([]byte) (int, error)) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	failure := f.fs.step("write", f.Name())
	if failure != nil {
		if f.fs.die > 0 {
			return 0, failure
		}
		b = b[:len(b)/2]
	}
	n, err := write(b)
	f.node.write(b[:n], at)
	if err == nil {
		err = failure
	}
	return n, err
}

func (f *faultFile) Seek(offset int64, whence int) (int64, error) {
	err := f.fs.do("seek", f.Name(), func() (err error) {
		f.pos, err = f.under.Seek(offset, whence)
		return err
	}, nil)
	return f.pos, err
}

func (f *faultFile) Truncate(size int64) error {
	return f.fs.do("truncate", f.Name(), func() error { return f.under.Truncate(size) },
		func(*model) { f.node.truncate(size) })
}

func (f *faultFile) Sync() error {
	return f.fs.sync(f.Name(), func() error {
		_, err := f.under.Stat()
		return err
	}, func(*model) { f.node.sync() })
}

// Datasync is to the model what Sync is: contents are all it knows of.
func (f *faultFile) Datasync() error { return f.Sync() }

func (f *faultFile) Stat() (info fs.FileInfo, err error) {
	err = f.fs.do("stat", f.Name(), func() (err error) {
		info, err = f.under.Stat()
		return err
	}, nil)
	return info, err
}

// Close always closes, so that a failing test leaves nothing open; it fails like any other operation.
func (f *faultFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	failure := f.fs.step("close", f.Name())
	if err := f.under.Close(); err != nil {
		return err
	}
	return failure
}

var _ io.WriterAt = (*faultFile)(nil)
