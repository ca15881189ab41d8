package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// mainBranch is where HEAD of a new repository points.
const mainBranch = "refs/heads/main"

// initialConfig turns off whatever stock git would do to the repository by itself: maintenance repacks beside running
// writers and makes packs that go-git does not see, reflogs grow for ever.
const initialConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
`

// Init makes a new, empty, bare repository in dir, which may exist if it is empty (ErrNotEmpty otherwise). HEAD points to
// refs/heads/main. When it returns nil the repository survives a power cut; HEAD is written last, so an interrupted Init
// leaves no repository, only remains that have to be removed.
func Init(fsys disk.FS, dir string) error {
	if err := initialize(fsys, dir); err != nil {
		return fmt.Errorf("make repository %s: %w", dir, err)
	}
	return nil
}

func initialize(fsys disk.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return ErrNotEmpty
	}
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
		if err := disk.MakeDir(fsys, filepath.Join(dir, filepath.FromSlash(sub)), 0o755); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(fsys, filepath.Join(dir, "config"), []byte(initialConfig), 0o644); err != nil {
		return err
	}
	return atomicfile.Write(fsys, filepath.Join(dir, "HEAD"), []byte("ref: "+mainBranch+"\n"), 0o644)
}
