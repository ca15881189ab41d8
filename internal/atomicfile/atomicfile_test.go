package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/faultfs"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "", "second, and longer"} {
		if err := atomicfile.Write(disk.OS, path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("read %q, %v; want %q", got, err, text)
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("permissions %v, %v", info.Mode(), err)
		}
	}
	onlyEntry(t, filepath.Dir(path), "file")
}

func onlyEntry(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v, %v; want %s alone", entries, err, name)
	}
}

func TestWriteRefusesWhatIsNoPlainFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("target"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	for _, path := range []string{link, dir} {
		if err := atomicfile.Write(disk.OS, path, []byte("new"), 0o600); !errors.Is(err, atomicfile.ErrNotRegular) {
			t.Errorf("%s: got %v, want ErrNotRegular", path, err)
		}
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "target" {
		t.Errorf("the target holds %q, %v", got, err)
	}
}

func TestWriteIntoMissingFolder(t *testing.T) {
	t.Parallel()
	err := atomicfile.Write(disk.OS, filepath.Join(t.TempDir(), "no", "file"), nil, 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// After a failure of any one operation the file is the old one or the new one, and nothing else is left.
func TestAnyFailureLeavesAWholeFile(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		f, path := oldFile(t)
		f.FailAt(n)
		err := atomicfile.Write(f, path, []byte("new contents"), 0o600)
		if err == nil {
			break
		}
		if !errors.Is(err, faultfs.ErrInjected) {
			t.Errorf("operation %d: %v", n, err)
		}
		got, readErr := os.ReadFile(path)
		if readErr != nil || string(got) != "old contents" && string(got) != "new contents" {
			t.Errorf("operation %d: the file holds %q, %v", n, got, readErr)
		}
		onlyEntry(t, filepath.Dir(path), "file")
	}
}

// oldFile returns an FS with a file in it that was written long ago.
func oldFile(t *testing.T) (*faultfs.FS, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old contents"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := faultfs.New(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

// tornStates cuts the power before each operation of write, lets every choice of what is unsynced survive, and returns
// those after which the file is not whole.
func tornStates(t *testing.T, write func(disk.FS, string, []byte) error) (torn []string) {
	t.Helper()
	for n, done := 1, false; !done; n++ {
		f, path := oldFile(t)
		f.DieAt(n)
		done = write(f, path, []byte("new contents")) == nil
		for names := range f.Unsynced() + 1 {
			for _, c := range []faultfs.Contents{faultfs.Kept, faultfs.Lost, faultfs.Halved, faultfs.Zeroed} {
				dir := filepath.Join(t.TempDir(), "after")
				if err := f.Crash(dir, faultfs.Survival{Names: names, Contents: c}); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(dir, "file"))
				whole := err == nil && (string(got) == "new contents" || !done && string(got) == "old contents")
				if !whole {
					torn = append(torn, fmt.Sprintf("operation %d, %d names, contents %d: %q, %v", n, names, c, got, err))
				}
			}
		}
	}
	return torn
}

func TestPowerCutLeavesAWholeFile(t *testing.T) {
	t.Parallel()
	torn := tornStates(t, func(fsys disk.FS, path string, data []byte) error {
		return atomicfile.Write(fsys, path, data, 0o600)
	})
	for _, state := range torn {
		t.Error(state)
	}
}

// The check above must be able to fail.
func TestPowerCutTearsCarelessWrites(t *testing.T) {
	t.Parallel()
	inPlace := func(fsys disk.FS, path string, data []byte) error {
		f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Sync(), f.Close())
	}
	withoutSync := func(fsys disk.FS, path string, data []byte) error {
		f, err := disk.CreateTemp(fsys, filepath.Dir(path), "tmp", 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close(), fsys.Rename(f.Name(), path), fsys.SyncDir(filepath.Dir(path)))
	}
	for name, write := range map[string]func(disk.FS, string, []byte) error{"in place": inPlace, "without sync": withoutSync} {
		if len(tornStates(t, write)) == 0 {
			t.Errorf("%s: no power cut tears the file", name)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	v := struct {
		A int    `json:"a"`
		B string `json:"b"`
	}{1, "two"}
	for indent, want := range map[string]string{
		"":   "{\"a\":1,\"b\":\"two\"}\n",
		" ":  "{\n \"a\": 1,\n \"b\": \"two\"\n}\n",
		"  ": "{\n  \"a\": 1,\n  \"b\": \"two\"\n}\n",
	} {
		if err := atomicfile.WriteJSON(disk.OS, path, v, indent, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("indent %q: read %q, %v; want %q", indent, got, err, want)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteJSON(disk.OS, path, func() {}, "", 0o600); err == nil {
		t.Error("what cannot be encoded is written")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the former file is gone: %q, %v", after, err)
	}
}
