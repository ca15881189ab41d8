package faultfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/faultfs"
)

// scratch returns an FS over a new folder, and the folder.
func scratch(t *testing.T) (*faultfs.FS, string) {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "old"), []byte("old contents"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := faultfs.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return f, root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes text into a new file, and syncs it if told to.
func put(t *testing.T, f *faultfs.FS, path, text string, sync bool) {
	t.Helper()
	w, err := f.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	_, err = w.Write([]byte(text))
	must(t, err)
	if sync {
		must(t, w.Sync())
	}
	must(t, w.Close())
}

// crashed returns what is in a file after a power cut, or "-" if it is not there.
func crashed(t *testing.T, f *faultfs.FS, name string, s faultfs.Survival) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "after")
	must(t, f.Crash(dir, s))
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	must(t, err)
	return string(data)
}

const everything = 1 << 20

func TestWhatWasThereSurvives(t *testing.T) {
	t.Parallel()
	f, _ := scratch(t)
	if got := crashed(t, f, "old", faultfs.Survival{Contents: faultfs.Lost}); got != "old contents" {
		t.Errorf("found %q", got)
	}
}

func TestUnsyncedContents(t *testing.T) {
	t.Parallel()
	for c, want := range map[faultfs.Contents]string{
		faultfs.Kept: "abcd", faultfs.Lost: "", faultfs.Halved: "ab", faultfs.Zeroed: "\x00\x00\x00\x00",
		faultfs.Ended: "\x00\x00cd",
	} {
		f, root := scratch(t)
		put(t, f, filepath.Join(root, "new"), "abcd", false)
		if got := crashed(t, f, "new", faultfs.Survival{Names: everything, Contents: c}); got != want {
			t.Errorf("%d: found %q, want %q", c, got, want)
		}
	}
	f, root := scratch(t)
	put(t, f, filepath.Join(root, "old"), "abcd", false)
	if got := crashed(t, f, "old", faultfs.Survival{Contents: faultfs.Lost}); got != "old contents" {
		t.Errorf("found %q", got)
	}
}

// What was synced and not overwritten since is there, whatever becomes of the rest of the file.
func TestAPowerCutDuringAnOverwrite(t *testing.T) {
	t.Parallel()
	for c, want := range map[faultfs.Contents]string{
		faultfs.Kept: "0ABCD56789", faultfs.Lost: "0123456789", faultfs.Halved: "0AB3456789",
		faultfs.Zeroed: "0\x00\x00\x00\x0056789", faultfs.Ended: "012CD56789",
	} {
		f, root := scratch(t)
		put(t, f, filepath.Join(root, "new"), "0123456789", true)
		must(t, f.SyncDir(root))
		w, err := f.OpenFile(filepath.Join(root, "new"), os.O_RDWR, 0)
		must(t, err)
		_, err = w.WriteAt([]byte("ABCD"), 1)
		must(t, err)
		if got := crashed(t, f, "new", faultfs.Survival{Contents: c}); got != want {
			t.Errorf("%d: found %q, want %q", c, got, want)
		}
		must(t, w.Datasync())
		if got := crashed(t, f, "new", faultfs.Survival{Contents: c}); got != "0ABCD56789" {
			t.Errorf("%d: found %q after the sync", c, got)
		}
		must(t, w.Close())
	}
}

func TestFilesMayFareDifferently(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	put(t, f, filepath.Join(root, "a"), "abcd", false)
	put(t, f, filepath.Join(root, "b"), "abcd", false)
	s := faultfs.Survival{Names: everything, Each: func(path string) faultfs.Contents {
		if filepath.Base(path) == "a" {
			return faultfs.Kept
		}
		return faultfs.Lost
	}}
	if a, b := crashed(t, f, "a", s), crashed(t, f, "b", s); a != "abcd" || b != "" {
		t.Errorf("found %q and %q", a, b)
	}
}

func TestUnsyncedName(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	put(t, f, filepath.Join(root, "new"), "abcd", true)
	if got := crashed(t, f, "new", faultfs.Survival{}); got != "-" {
		t.Errorf("found %q before the directory was synced", got)
	}
	must(t, f.SyncDir(root))
	if got := crashed(t, f, "new", faultfs.Survival{Contents: faultfs.Lost}); got != "abcd" {
		t.Errorf("found %q", got)
	}
	if n := f.Unsynced(); n != 0 {
		t.Errorf("%d changes are left", n)
	}
}

func TestRenameAcrossDirectories(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	must(t, f.Mkdir(a, 0o700))
	must(t, f.MkdirAll(filepath.Join(b, "c"), 0o700))
	put(t, f, filepath.Join(a, "x"), "abcd", true)
	must(t, f.Rename(filepath.Join(a, "x"), filepath.Join(b, "c", "y")))
	must(t, f.SyncDir(filepath.Join(b, "c")))
	if got := crashed(t, f, "b/c/y", faultfs.Survival{}); got != "-" {
		t.Errorf("found %q, though its directory is not safe", got)
	}
	must(t, f.SyncDir(b))
	must(t, f.SyncDir(root))
	if got := crashed(t, f, "b/c/y", faultfs.Survival{}); got != "abcd" {
		t.Errorf("found %q", got)
	}
}

func TestRemovalMayBeUndone(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	must(t, f.Remove(filepath.Join(root, "old")))
	if got := crashed(t, f, "old", faultfs.Survival{}); got != "old contents" {
		t.Errorf("found %q", got)
	}
	if got := crashed(t, f, "old", faultfs.Survival{Names: 1}); got != "-" {
		t.Errorf("found %q", got)
	}
}

func TestFailAt(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	f.FailAt(2)
	if _, err := f.Stat(root); err != nil {
		t.Errorf("first operation: %v", err)
	}
	if _, err := f.Stat(root); !errors.Is(err, faultfs.ErrInjected) {
		t.Errorf("second operation: %v", err)
	}
	if _, err := f.Stat(root); err != nil {
		t.Errorf("third operation: %v", err)
	}
	f.DieAt(2)
	for i, dead := range []bool{false, true, true} {
		if err := f.Mkdir(filepath.Join(root, string(rune('a'+i))), 0o700); errors.Is(err, faultfs.ErrInjected) != dead {
			t.Errorf("operation %d: %v", i, err)
		}
	}
}

func TestASyncThatIsLeftOut(t *testing.T) {
	t.Parallel()
	for left, want := range map[int]string{0: "abcd", 1: "", 2: "-", 3: "abcd"} {
		f, root := scratch(t)
		f.LieAt(left)
		put(t, f, filepath.Join(root, "new"), "abcd", true)
		must(t, f.SyncDir(root))
		if got := crashed(t, f, "new", faultfs.Survival{Contents: faultfs.Lost}); got != want {
			t.Errorf("without sync %d: found %q, want %q", left, got, want)
		}
		if n := f.Syncs(); n != 2 {
			t.Errorf("%d syncs are counted", n)
		}
	}
}

func TestFailingWriteGetsHalfOut(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	w, err := f.OpenFile(filepath.Join(root, "new"), os.O_WRONLY|os.O_CREATE, 0o600)
	must(t, err)
	defer w.Close()
	f.FailAt(1)
	if n, err := w.Write([]byte("abcd")); n != 2 || !errors.Is(err, faultfs.ErrInjected) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if _, err := w.Write([]byte("ef")); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "new"))
	if err != nil || string(data) != "abef" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if got := crashed(t, f, "new", faultfs.Survival{Names: everything}); got != "abef" {
		t.Errorf("the model holds %q", got)
	}
}

// Whatever is done, the model agrees with the folder that the operations were done in.
func TestModelFollowsTheFolder(t *testing.T) {
	t.Parallel()
	f, root := scratch(t)
	in := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	must(t, f.MkdirAll(in("d/e"), 0o700))
	put(t, f, in("d/e/x"), "0123456789", false)
	put(t, f, in("d/y"), "y", true)
	w, err := f.OpenFile(in("d/e/x"), os.O_RDWR, 0)
	must(t, err)
	_, err = w.WriteAt([]byte("AB"), 12)
	must(t, err)
	_, err = w.Seek(3, 0)
	must(t, err)
	_, err = w.Write([]byte("C"))
	must(t, err)
	must(t, w.Truncate(13))
	var b [4]byte
	_, err = w.ReadAt(b[:], 2)
	must(t, err)
	_, err = w.Read(b[:])
	must(t, err)
	info, err := w.Stat()
	must(t, err)
	if string(b[:]) != "4567" || info.Size() != 13 {
		t.Errorf("read %q of %d bytes", b, info.Size())
	}
	must(t, w.Close())
	must(t, f.Rename(in("d/e"), in("g")))
	must(t, f.Chmod(in("d/y"), 0o600))
	must(t, f.RemoveAll(in("d")))
	must(t, f.Mkdir(in("h"), 0o700))
	if _, err := f.Lstat(in("h")); err != nil {
		t.Error(err)
	}
	entries, err := f.ReadDir(root)
	if err != nil || len(entries) != 3 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	dir := filepath.Join(t.TempDir(), "after")
	must(t, f.Crash(dir, faultfs.Survival{Names: f.Unsynced()}))
	if got, want := listing(t, dir), listing(t, root); got != want {
		t.Errorf("the model holds\n%s\nthe folder\n%s", got, want)
	}
	if f.Ops() == 0 {
		t.Error("nothing was counted")
	}
}

// listing describes everything below dir.
func listing(t *testing.T, dir string) (text string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		text += rel + "\n"
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		text += string(data) + "\n"
		return err
	}))
	return text
}
