package proof_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/disk"
)

// quick is the real file system without the waiting, for what does not depend on power.
var quick disk.FS = quickFS{disk.OS}

type quickFS struct{ disk.FS }

type quickFile struct{ disk.File }

func (quickFile) Sync() error        { return nil }
func (quickFS) SyncDir(string) error { return nil }

func (q quickFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := q.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return quickFile{f}, nil
}

// longAgo makes everything below dir look as old as it does after a power cut: from before the system was started.
func longAgo(dir string) error {
	then := time.Now().AddDate(-10, 0, 0)
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, then, then)
	})
}
