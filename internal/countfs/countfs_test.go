package countfs_test

import (
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/countfs"
	"cairn/internal/disk"
)

func TestItCountsWhatIsAsked(t *testing.T) {
	t.Parallel()
	f := countfs.New(disk.OS)
	dir := filepath.Join(t.TempDir(), "dir")
	name := filepath.Join(dir, "file")
	if err := f.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := make([]byte, 10)
	steps := []func() error{
		func() error { _, err := file.Write([]byte("twelve bytes")); return err },
		func() error { _, err := file.ReadAt(b, 2); return err },
		file.Sync,
		func() error { return f.SyncDir(dir) },
		func() error { _, err := f.Stat(name); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	want := countfs.Count{Looks: 2, Reads: 1, Read: 10, Writes: 1, Written: 12, Changes: 1, Syncs: 2}
	if got := f.Count(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	before := f.Count()
	if _, err := f.ReadDir(dir); err != nil {
		t.Fatal(err)
	}
	if got := f.Count().Sub(before); got != (countfs.Count{Looks: 1}) {
		t.Errorf("counted %+v since", got)
	}
}
