package disk

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FS is the set of operations that writers of durable data use. Names are paths of the operating system, as for
// package os. Implementations are safe for concurrent use.
type FS interface {
	// OpenFile opens name with the flags of package os; perm applies, less the umask, if the file is created.
	// The caller closes the file.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	// Rename replaces newname if it exists. Where the system refuses while another process has the target open,
	// it tries again for about a second.
	Rename(oldname, newname string) error
	// Remove deletes a file or an empty directory, with the same patience as Rename.
	Remove(name string) error
	RemoveAll(name string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// Lstat is Stat, except that it describes a symbolic link instead of following it.
	Lstat(name string) (fs.FileInfo, error)
	Chmod(name string, perm fs.FileMode) error
	// SyncDir makes the names in a directory durable: files created in it, renamed into it, removed from it. It does
	// nothing on systems that keep names durable by themselves.
	SyncDir(name string) error
}

// File is an open file. The ReaderAt and WriterAt halves are safe for concurrent use, the rest is not.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	// Sync makes the contents durable, not the name: see FS.SyncDir.
	Sync() error
	// Datasync is Sync for a file whose contents alone matter: it may leave out what is not needed to read them back, such
	// as the time of the change. Where a file is overwritten within its bounds that can save most of the wait.
	Datasync() error
	Truncate(size int64) error
}

// Open opens name for reading. The caller closes the file.
func Open(fsys FS, name string) (File, error) {
	return fsys.OpenFile(name, os.O_RDONLY, 0)
}

// ReadFile returns the contents of name.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := Open(fsys, name)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// readAll is io.ReadAll with room for most small files from the start: it reads one in two calls.
func readAll(r io.Reader) ([]byte, error) {
	data := make([]byte, 0, 4<<10)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// InUse reports whether a rename or removal failed because a process has the file open, which only Windows minds. The
// same call may succeed later.
func InUse(err error) bool { return err != nil && inUse(err) }

// Full reports whether err says that there is no room left, on the disk or in what this user may take of it.
func Full(err error) bool { return err != nil && full(err) }

// ReadOnly reports whether err says that the disk takes no writes from anybody.
func ReadOnly(err error) bool { return err != nil && readOnly(err) }

// CreateTemp creates a file of a new name in dir, open for reading and writing, with perm less the umask. A random
// string replaces the star in pattern, or follows it. The caller closes the file and removes or renames it.
func CreateTemp(fsys FS, dir, pattern string, perm fs.FileMode) (File, error) {
	prefix, suffix, _ := strings.Cut(pattern, "*")
	var err error
	for range 100 {
		name := prefix + strconv.FormatUint(rand.Uint64(), 36) + suffix
		var f File
		f, err = fsys.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return f, nil
		}
		if !os.IsExist(err) {
			break
		}
	}
	return nil, fmt.Errorf("create a temporary file: %w", err)
}
