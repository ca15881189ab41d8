package gitstore

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// A quarantineList is what lies in a quarantine of git's. Whatever git will make part of the repository must be in it, so
// a file of another kind is an error.
type quarantineList struct {
	fs      disk.FS
	dir     string
	loose   []plumbing.Hash
	packs   map[string]bool // names without extension
	indexes map[string]bool
}

// beside are what git puts beside a pack; nothing of them is an object.
var beside = []string{".keep", ".rev", ".bitmap", ".mtimes", ".promisor"}

func (l *quarantineList) strange() error {
	return &ForeignFormatError{Dir: l.dir, What: "holds a file that is neither an object nor a pack"}
}

func (l *quarantineList) read() error {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return l.strange()
		}
		files, err := l.fs.ReadDir(filepath.Join(l.dir, e.Name()))
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.Type() != 0 || !l.note(e.Name(), f) {
				return l.strange()
			}
		}
	}
	return nil
}

// note enters a file, and reports whether it is one of git's.
func (l *quarantineList) note(folder string, f fs.DirEntry) bool {
	if folder != "pack" {
		h, ok := parseHash(folder + f.Name())
		if ok {
			l.loose = append(l.loose, h)
		}
		return ok && len(folder) == 2
	}
	ext := filepath.Ext(f.Name())
	stem := strings.TrimSuffix(f.Name(), ext)
	switch {
	case ext == ".pack":
		l.packs[stem] = true
	case ext == ".idx":
		l.indexes[stem] = true
	default:
		return slices.Contains(beside, ext)
	}
	return true
}
