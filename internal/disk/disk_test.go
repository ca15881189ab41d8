package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/internal/disk"
)

func TestCreateTempMakesNewFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := map[string]bool{}
	for range 20 {
		f, err := disk.CreateTemp(disk.OS, dir, "tmp_*.pack", 0o444)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		base := filepath.Base(f.Name())
		if seen[base] || !strings.HasPrefix(base, "tmp_") || !strings.HasSuffix(base, ".pack") {
			t.Errorf("name %q", base)
		}
		seen[base] = true
		if _, err := f.Write([]byte("written through a read-only mode")); err != nil {
			t.Error(err)
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if _, err := disk.ReadFile(disk.OS, name); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
	want := strings.Repeat("many bytes ", 10_000)
	if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := disk.ReadFile(disk.OS, name)
	if err != nil || string(got) != want {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestSyncDir(t *testing.T) {
	t.Parallel()
	if err := disk.OS.SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestNamesComeAndGo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	old, new := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	steps := []struct {
		what string
		do   func() error
	}{
		{"make folders", func() error { return disk.OS.MkdirAll(dir, 0o755) }},
		{"write", func() error { return os.WriteFile(old, []byte("text"), 0o600) }},
		{"write the target", func() error { return os.WriteFile(new, []byte("to be replaced"), 0o444) }},
		{"rename", func() error { return disk.OS.Rename(old, new) }},
		{"protect", func() error { return disk.OS.Chmod(new, 0o444) }},
		{"look", func() error { _, err := disk.OS.Lstat(new); return err }},
		{"remove", func() error { return disk.OS.Remove(new) }},
		{"make a folder", func() error { return disk.OS.Mkdir(new, 0o755) }},
		{"look", func() error { _, err := disk.OS.Stat(new); return err }},
		{"list", func() error { _, err := disk.OS.ReadDir(dir); return err }},
		{"remove all", func() error { return disk.OS.RemoveAll(dir) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
	}
	err := disk.OS.Remove(new)
	if !os.IsNotExist(err) || disk.InUse(err) {
		t.Errorf("removing what is gone: %v", err)
	}
}

func TestFilesOfThisTestAreYoungerThanTheSystem(t *testing.T) {
	t.Parallel()
	boot, err := disk.BootTime()
	if err != nil {
		t.Fatal(err)
	}
	if !boot.Before(time.Now()) || boot.Before(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("boot time %v", boot)
	}
}

func TestPreallocatedRoomIsOverwritten(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	f, err := disk.OS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	const size = 300_001 // more than one block, and no multiple of one
	if _, err := f.WriteAt([]byte("former"), size-3); err != nil {
		t.Fatal(err)
	}
	if err := disk.Preallocate(f, size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("text"), 1000); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Datasync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size+3)
	copy(want[1000:], "text")
	copy(want[size:], "mer")
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestSyncingWhatIsClosedIsAnError(t *testing.T) {
	t.Parallel()
	f, err := disk.CreateTemp(disk.OS, t.TempDir(), "x", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Datasync(); err == nil || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestTheStartOfTheSystemHasOneName(t *testing.T) {
	t.Parallel()
	a, err := disk.BootID()
	if err != nil {
		t.Fatal(err)
	}
	b, err := disk.BootID()
	if err != nil || a != b || a == "" || len(a) > 64 {
		t.Errorf("two names for one start: %q and %q, %v", a, b, err)
	}
}
