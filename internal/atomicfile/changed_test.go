package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"cairn/internal/atomicfile"
	"cairn/internal/countfs"
	"cairn/internal/disk"
)

func TestWhatIsAsItShouldBeIsNotWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	fsys := countfs.New(disk.OS)
	write := func(text string, want bool) {
		t.Helper()
		before := fsys.Count()
		written, err := atomicfile.WriteChanged(fsys, path, []byte(text), 0o600)
		if err != nil || written != want {
			t.Errorf("written %v, %v", written, err)
		}
		if did := fsys.Count().Sub(before).Writes > 0; did != want {
			t.Errorf("it says %v and did %v", written, did)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	write("one", true)
	write("one", false)
	write("two", true)
	write("longer", true)
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		write("longer", true)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.WriteChanged(fsys, path, []byte("one"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
}
