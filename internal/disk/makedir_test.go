package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/disk"
	"cairn/internal/faultfs"
)

// A folder that was made is there after a power cut, with all folders that lead to it, even if nothing else was synced.
func TestAFolderThatWasMadeSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	for n, made := 1, false; !made; n++ {
		root := t.TempDir()
		f, err := faultfs.New(root)
		if err != nil {
			t.Fatal(err)
		}
		f.DieAt(n)
		made = disk.MakeDir(f, filepath.Join(root, "a", "b", "c"), 0o700) == nil
		after := filepath.Join(t.TempDir(), "after")
		if err := f.Crash(after, faultfs.Survival{}); err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(after, "a", "b", "c"))
		if made && err != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("made after %d operations, and then: %v", n, err)
		}
	}
}

func TestAFileInTheWayOfAFolder(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{name, filepath.Join(name, "below")} {
		if err := disk.MakeDir(disk.OS, dir, 0o700); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
	dir := filepath.Dir(name)
	if err := disk.MakeDir(disk.OS, dir, 0o700); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
}
