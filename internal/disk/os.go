package disk

import (
	"io/fs"
	"os"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err // not f, which would be a File that is not nil
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

func (f osFile) Datasync() error { return datasync(f.File) }

func (osFS) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (osFS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (osFS) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (osFS) Chmod(name string, perm fs.FileMode) error    { return os.Chmod(name, perm) }
func (osFS) SyncDir(name string) error                    { return syncDir(name) }

func (osFS) Rename(oldname, newname string) error {
	return patiently(func() error { return rename(oldname, newname) })
}

func (osFS) Remove(name string) error {
	return patiently(func() error { return os.Remove(name) })
}
