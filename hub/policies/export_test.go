package policies_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"cairn/hub/policies"
	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/internal/faultfs"
	"cairn/policy/versions"
)

// A copy for others says the same as the folder, is only written where it does not, and is put right again.
func TestACopyForOthersIsKeptLevelAndNotWrittenAnew(t *testing.T) {
	t.Parallel()
	fsys := countfs.New(disk.OS)
	dir, to := filepath.Join(t.TempDir(), "policy"), filepath.Join(t.TempDir(), "gate")
	s := open(fsys, dir)
	if n, err := s.Export(t.Context(), to); err != nil || n != versions.First-1 {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("a copy of nothing was made")
	}
	export := func(wantFiles int64) {
		t.Helper()
		before := fsys.Count()
		n, err := s.Export(t.Context(), to)
		if wrote := fsys.Count().Sub(before).Writes; err != nil || wrote != wantFiles {
			t.Errorf("%d writes, want %d, %v", wrote, wantFiles, err)
		}
		in, prints, err := policies.Signed(disk.OS, to, ed25519.PublicKey(key("hub").Public()))
		if err != nil || in.Number != n || len(prints) == 0 {
			t.Errorf("the copy says %+v, want number %d, %v", in, n, err)
		}
	}
	for i, team := range []string{"acme", "acme-two"} {
		if _, err := propose(s, file(team, 1)); err != nil {
			t.Fatal(err)
		}
		export(2 + int64(1-i)) // version and file, and once the key for fingerprints
		export(0)
	}
	must(t, os.WriteFile(filepath.Join(to, "2.json"), []byte("{}"), 0o600))
	export(1)
}

// Whichever step of an export fails, or the program is killed there: what is there says nothing, or the version of before,
// or a newer one with all that belongs to it. A first one says nothing before it is whole. The next export completes it.
func TestHalfAnExportIsNeverTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "policy")
	s := open(disk.OS, dir)
	teams := []string{"acme", "acme-two", "acme-three"}
	for _, team := range teams {
		_, err := propose(s, file(team, 1))
		must(t, err)
	}
	newest := versions.First + len(teams) - 1
	pub := ed25519.PublicKey(key("hub").Public())
	for _, before := range []int{versions.First - 1, versions.First, newest} {
		for name, breakAt := range map[string]func(*faultfs.FS, int){"fails": (*faultfs.FS).FailAt, "dies": (*faultfs.FS).DieAt} {
			for n, failed := 1, true; failed; n++ {
				to := filepath.Join(t.TempDir(), "gate")
				if before >= versions.First {
					copyUpTo(t, dir, to, before)
				}
				fsys, err := faultfs.New(filepath.Dir(to))
				must(t, err)
				breakAt(fsys, n)
				_, err = open(fsys, dir).Export(context.Background(), to)
				failed = err != nil
				breakAt(fsys, 0)
				in, prints, serr := policies.Signed(disk.OS, to, pub)
				switch {
				case serr != nil && before >= versions.First:
					t.Errorf("from %d, step %d %s: nothing is in force: %v", before, n, name, serr)
				case serr == nil && (in.Number < before || in.Number > newest || len(prints) == 0):
					t.Errorf("from %d, step %d %s: version %d, %d bytes of prints", before, n, name, in.Number, len(prints))
				case serr == nil && before < versions.First && in.Number != newest:
					t.Errorf("step %d of the first export %s: version %d of %d counts", n, name, in.Number, newest)
				case !failed && serr != nil:
					t.Errorf("from %d, step %d %s: no error, and %v", before, n, name, serr)
				case serr == nil && string(in.Text) != string(file(teams[in.Number-versions.First], 1)):
					t.Errorf("from %d, step %d %s: version %d says %s", before, n, name, in.Number, in.Text)
				}
				if _, err := s.Export(context.Background(), to); err != nil {
					t.Errorf("from %d, after step %d %s: %v", before, n, name, err)
				}
				if in, _, err := policies.Signed(disk.OS, to, pub); err != nil || in.Number != newest {
					t.Errorf("from %d, step %d %s: completed it says %+v, %v", before, n, name, in, err)
				}
			}
		}
	}
}

// copyUpTo makes the copy that an export made when n was the newest version.
func copyUpTo(t *testing.T, dir, to string, n int) {
	t.Helper()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	must(t, filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return errors.Join(err, os.Chmod(path, 0o600))
	}))
	for ; ; n++ {
		err := os.Remove(filepath.Join(to, strconv.Itoa(n+1)+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		must(t, err)
	}
}
