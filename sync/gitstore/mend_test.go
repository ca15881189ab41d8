package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// tenPacks is a repository with ten commits, each in a pack of its own.
func tenPacks(t *testing.T) (s *gitstore.Store, tip plumbing.Hash) {
	t.Helper()
	s = newStore(t)
	for i := range 10 {
		tip = addCommit(t, s, tip, fmt.Sprintf("file %d", i))
	}
	return s, tip
}

// addCommit appends one commit with one file.
func addCommit(t *testing.T, s *gitstore.Store, parent plumbing.Hash, text string) plumbing.Hash {
	t.Helper()
	b := blob(text)
	tree := gitstore.NewObject(plumbing.TreeObject, append([]byte("100644 file\x00"), b.Hash[:]...))
	head := "tree " + tree.Hash.String() + "\n"
	if !parent.IsZero() {
		head += "parent " + parent.String() + "\n"
	}
	who := " a <a@example.invalid> 1700000000 +0000\n"
	commit := gitstore.NewObject(plumbing.CommitObject, []byte(head+"author"+who+"committer"+who+"\n"+text+"\n"))
	if _, err := s.WritePack([]gitstore.Object{b, tree, commit}); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateRef("refs/heads/main", parent, commit.Hash); err != nil {
		t.Fatal(err)
	}
	return commit.Hash
}

// readsAll requires that every commit, tree and blob below tip can be read.
func readsAll(t *testing.T, s *gitstore.Store, tip plumbing.Hash, commits int) {
	t.Helper()
	ids := strings.Fields(git(t, s.Dir(), "rev-list", "--objects", "--no-object-names", tip.String()))
	if len(ids) != 3*commits {
		t.Errorf("git lists %d objects, want %d", len(ids), 3*commits)
	}
	for _, id := range ids {
		if _, err := s.Object(plumbing.NewHash(id)); err != nil {
			t.Errorf("object %s: %v", id, err)
		}
	}
}

// Whatever stock git writes beside us is read right or left alone, and nothing
// that our own compaction leaves behind confuses stock git.
func TestCompanionFilesOfStockGit(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string][][]string{
		"multi-pack-index":             {{"multi-pack-index", "write"}},
		"multi-pack-index with bitmap": {{"multi-pack-index", "write", "--bitmap"}},
		"bitmap and reverse index":     {{"-c", "pack.writeReverseIndex=true", "repack", "-adb", "-q"}},
		"cruft pack":                   {{"hash-object", "-w", "--stdin"}, {"repack", "--cruft", "-d", "-q"}},
		"commit-graph":                 {{"commit-graph", "write", "--reachable"}},
		"split commit-graph":           {{"commit-graph", "write", "--reachable", "--split"}},
		"packed refs":                  {{"pack-refs", "--all"}},
		"collected garbage":            {{"gc", "-q", "--prune=now"}},
		"loose objects":                {{"unpack"}},
		"maintenance":                  {{"maintenance", "run", "--task=loose-objects", "--task=incremental-repack", "--task=commit-graph", "--quiet"}},
		"many at once":                 {{"repack", "-adb", "-q"}, {"pack-refs", "--all"}, {"commit-graph", "write", "--reachable"}, {"multi-pack-index", "write"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tip := tenPacks(t)
			for _, args := range commands {
				if args[0] == "unpack" {
					unpack(t, s.Dir())
					continue
				}
				git(t, s.Dir(), args...)
			}
			readsAll(t, s, tip, 10)
			for i := range 3 {
				tip = addCommit(t, s, tip, fmt.Sprintf("later %d", i))
			}
			if _, err := s.CompactAt(context.Background(), 2); err != nil {
				t.Fatal(err)
			}
			readsAll(t, s, tip, 13)
			fsck(t, s.Dir())
			if _, err := os.Stat(filepath.Join(s.Dir(), "objects", "pack", "multi-pack-index")); err == nil {
				git(t, s.Dir(), "multi-pack-index", "verify")
			}
			git(t, s.Dir(), "commit-graph", "verify")
			if damage, err := s.MendObjects(t.Context(), true); err != nil || len(damage) > 0 {
				t.Errorf("a healthy repository is mended: %v, %v", damage, err)
			}
			fresh := open(t, s.Dir())
			readsAll(t, fresh, tip, 13)
		})
	}
}

// unpack makes loose objects of everything.
func unpack(t *testing.T, dir string) {
	t.Helper()
	aside := t.TempDir()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packs {
		if err := os.Rename(p, filepath.Join(aside, filepath.Base(p))); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(p, ".pack") {
			b, err := os.ReadFile(filepath.Join(aside, filepath.Base(p)))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := tryGit(t, dir, string(b), "unpack-objects", "-q"); err != nil {
				t.Fatalf("unpack: %v %s", err, out)
			}
		}
	}
}

// What needs another repository's objects is refused by name.
func TestBorrowedObjectsAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := tenPacks(t)
	dir := filepath.Join(t.TempDir(), "borrower.git")
	git(t, s.Dir(), "clone", "-q", "--bare", "--shared", s.Dir(), dir)
	for _, how := range []func() (*gitstore.Store, error){
		func() (*gitstore.Store, error) { return gitstore.Open(disk.OS, dir) },
		func() (*gitstore.Store, error) { return gitstore.OpenDamaged(disk.OS, dir) },
	} {
		_, err := how()
		if _, foreign := errors.AsType[*gitstore.ForeignFormatError](err); !foreign {
			t.Errorf("it is opened: %v", err)
		}
	}
}

// An index and a pack are damaged in every way: what can be
// had elsewhere is mended, what cannot is kept and named, and nothing that was
// whole is lost.
func TestEveryFileDamagedInTurn(t *testing.T) {
	t.Parallel()
	source, tip := tenPacks(t)
	unpackedTwin := filepath.Join(t.TempDir(), "twin.git")
	if err := os.CopyFS(unpackedTwin, os.DirFS(source.Dir())); err != nil {
		t.Fatal(err)
	}
	git(t, unpackedTwin, "repack", "-adq")
	git(t, unpackedTwin, "update-ref", "refs/heads/main", tip.String())
	spare, err := filepath.Glob(filepath.Join(unpackedTwin, "objects", "pack", "pack-*"))
	if err != nil || len(spare) == 0 {
		t.Fatalf("no pack to copy from: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(source.Dir(), "objects", "pack", "pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for i, file := range files[:2] { // an index and its pack
		for how, harm := range harms {
			dir := filepath.Join(t.TempDir(), "harmed.git")
			if err := os.CopyFS(dir, os.DirFS(source.Dir())); err != nil {
				t.Fatal(err)
			}
			victim := filepath.Join(dir, "objects", "pack", filepath.Base(file))
			harm(t, victim)
			s := open(t, dir)
			damage, err := s.MendObjects(t.Context(), true)
			if err != nil || len(damage) == 0 && how != "gone" {
				t.Errorf("%d %s: nothing is found wrong: %v", i, how, err)
			}
			isIndex := strings.HasSuffix(file, ".idx")
			if isIndex && (len(damage) != 1 || damage[0].Mended == "") {
				t.Errorf("%d %s: an index is not mended: %+v", i, how, damage)
			}
			if !isIndex {
				for _, d := range damage {
					if d.Mended != "" {
						t.Errorf("%d %s: it claims to have mended what only one file held: %+v", i, how, d)
					}
				}
				for _, name := range spare {
					b, err := os.ReadFile(name)
					if err == nil {
						err = os.WriteFile(filepath.Join(dir, "objects", "pack", filepath.Base(name)), b, 0o444)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if damage, err = s.MendObjects(t.Context(), true); err != nil {
					t.Errorf("%d %s: %v, %v", i, how, damage, err)
				}
			}
			readsAll(t, s, tip, 10)
			fsck(t, dir)
			if again, err := s.MendObjects(t.Context(), true); err != nil || len(again) > 0 {
				t.Errorf("%d %s: it is never done: %+v %v", i, how, again, err)
			}
		}
	}
}

var harms = map[string]func(*testing.T, string){
	"gone":  func(t *testing.T, path string) { must(t, os.Remove(path)) },
	"empty": func(t *testing.T, path string) { rewrite(t, path, func([]byte) []byte { return nil }) },
	"half":  func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { return b[:len(b)/2] }) },
	"zeros": func(t *testing.T, path string) {
		rewrite(t, path, func(b []byte) []byte { return make([]byte, len(b)) })
	},
	"flip": func(t *testing.T, path string) {
		rewrite(t, path, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	},
	"more": func(t *testing.T, path string) { rewrite(t, path, func(b []byte) []byte { return append(b, 1, 2, 3) }) },
}

func open(t *testing.T, dir string) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Open(disk.OS, dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.Remove(path))
	must(t, os.WriteFile(path, change(b), 0o444))
}
