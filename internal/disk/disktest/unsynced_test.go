package disktest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
)

// Everything reaches the disk below but the waits for it.
func TestUnsyncedWritesAndDoesNotWait(t *testing.T) {
	below := countfs.New(disk.OS)
	fsys := disktest.Unsynced(below)
	dir := t.TempDir()
	f, err := fsys.OpenFile(filepath.Join(dir, "file"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Datasync(), fsys.SyncDir(dir), f.Close()); err != nil {
		t.Error(err)
	}
	if c := below.Count(); c.Syncs != 0 || c.Writes != 1 {
		t.Errorf("the disk below saw %+v", c)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(b) != "text" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if _, err := fsys.OpenFile(filepath.Join(dir, "none"), os.O_RDONLY, 0); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}
