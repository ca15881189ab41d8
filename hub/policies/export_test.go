package policies_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"

	"cairn/hub/policies"
	"cairn/internal/countfs"
	"cairn/internal/disk"
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
