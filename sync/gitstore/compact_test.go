package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gitstore"
)

func compact(t testing.TB, s *gitstore.Store) gitstore.CompactStats {
	t.Helper()
	stats, err := s.CompactAt(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func TestCompactJoinsSmallPacks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 30 {
		appendCommit(t, s, fmt.Sprintf("note %d", i))
	}
	before := listObjects(t, s.Dir())
	stats := compact(t, s)
	if stats.Packs != 30 || stats.Objects != len(before) || stats.Before <= stats.After || stats.Left != 0 {
		t.Errorf("stats: %+v, want 30 packs and %d objects", stats, len(before))
	}
	if got := packs(t, s.Dir()); len(got) != 1 {
		t.Errorf("packs: %v", got)
	}
	if got := listObjects(t, s.Dir()); !slices.Equal(got, before) {
		t.Errorf("%d objects, want %d", len(got), len(before))
	}
	fsck(t, s.Dir())
	if again := compact(t, s); again.Packs != 0 {
		t.Errorf("nothing to do, yet: %+v", again)
	}
}

func TestFewPacksAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 5 {
		appendCommit(t, s, fmt.Sprint(i))
	}
	if stats, err := s.Compact(t.Context()); err != nil || stats.Packs != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Law: whatever packs there are, with deltas or without, compacting any number of times keeps every object.
func TestCompactKeepsEverything(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	git(t, stock, "repack", "-adfq")
	var supply [][]byte
	for i := range 5 {
		supply = append(supply,
			packOf(t, stock, fmt.Sprintf("main~%d\n", 3*i), "--delta-base-offset"),
			packOf(t, stock, fmt.Sprintf("main~%d\n^main~%d\n", 2*i, 3*i+1)))
	}
	var last string
	rapid.Check(t, func(rt *rapid.T) {
		s := newStore(t)
		have := map[plumbing.Hash]bool{}
		for range rapid.IntRange(1, 2).Draw(rt, "rounds") {
			for _, pack := range rapid.SliceOfN(rapid.SampledFrom(supply), 1, 3).Draw(rt, "packs") {
				q := receive(t, s, pack)
				for _, h := range received(t, q) {
					have[h] = true
				}
				if err := q.Publish(); err != nil {
					rt.Fatal(err)
				}
			}
			if _, err := s.CompactAt(t.Context(), 2); err != nil {
				rt.Fatal(err)
			}
		}
		mustHoldExactly(rt, s, have)
		last = s.Dir()
	})
	fsckObjects(t, last)
}

func mustHoldExactly(t *rapid.T, s *gitstore.Store, want map[plumbing.Hash]bool) {
	ids, err := s.IDs()
	if err != nil || len(ids) != len(want) {
		t.Fatalf("%d objects, %v; want %d", len(ids), err, len(want))
	}
	for h := range want {
		if _, err := s.Object(h); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompactRemovesCompanionFilesFirst(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 6 {
		appendCommit(t, s, fmt.Sprint(i))
	}
	git(t, s.Dir(), "multi-pack-index", "write", "--bitmap")
	for _, p := range packs(t, s.Dir()) {
		git(t, s.Dir(), "index-pack", "--rev-index", p)
	}
	compact(t, s)
	left, err := os.ReadDir(filepath.Join(s.Dir(), "objects", "pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if ext := filepath.Ext(e.Name()); ext != ".pack" && ext != ".idx" {
			t.Errorf("left: %s", e.Name())
		}
	}
	fsck(t, s.Dir())
}

func TestCompactLeavesProtectedAndDamagedPacks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 8 {
		appendCommit(t, s, fmt.Sprint(i))
	}
	all := packs(t, s.Dir())
	kept, damaged := all[0], all[1]
	write(t, strings.TrimSuffix(kept, ".pack")+".keep", "mine\n")
	overwrite(t, damaged, 14)
	again := openStore(t, s.Dir())
	stats := compact(t, again)
	if stats.Packs != 6 || stats.Damaged != 1 {
		t.Errorf("stats: %+v", stats)
	}
	for _, p := range []string{kept, damaged} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}

// overwrite damages one byte of a file.
func overwrite(t testing.TB, path string, at int64) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	if err == nil {
		_, err = f.WriteAt([]byte{b[0] ^ 0x55}, at)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCompactSweepsWhatTheKilledLeft(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 3 {
		appendCommit(t, s, fmt.Sprint(i))
	}
	dir := filepath.Join(s.Dir(), "objects", "pack")
	old := time.Now().AddDate(0, 0, -2)
	for name, text := range map[string]string{
		"new-old.pack-draft": "", "new-old.idx-draft": "", "pack-1234.idx": "", "pack-5678.keep": "cairn: a ref will lead here\n",
		"pack-abcd.keep": "somebody else's\n",
	} {
		write(t, filepath.Join(dir, name), text)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "new-new.pack-draft"), "being written")
	compact(t, s)
	var left []string
	for _, name := range tree(t, dir) {
		if ext := filepath.Ext(name); ext != ".pack" && name != "." && !(ext == ".idx" && len(name) > 20) {
			left = append(left, name)
		}
	}
	if want := []string{"new-new.pack-draft", "pack-abcd.keep"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestCanceledCompactChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 5 {
		appendCommit(t, s, fmt.Sprint(i))
	}
	before := tree(t, s.Dir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.CompactAt(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if after := tree(t, s.Dir()); !slices.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

// Readers, writers and a compacting process at once: nobody may ever miss an object.
func TestReadersDuringCompaction(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		reader := openStore(t, s.Dir())
		wg.Go(func() {
			for {
				if err := walkHistory(reader, first); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	compacter := openStore(t, s.Dir())
	for i := range 40 {
		appendCommit(t, s, fmt.Sprint(i))
		if i%4 == 3 {
			if _, err := compacter.CompactAt(t.Context(), 2); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	wg.Wait()
	fsck(t, s.Dir())
}

// walkHistory reads every object from HEAD down to the commit first.
func walkHistory(s *gitstore.Store, first plumbing.Hash) error {
	head, err := s.Head()
	if err != nil {
		return err
	}
	for at := head.Commit; ; {
		c, err := s.Object(at)
		if err != nil {
			return err
		}
		t, err := s.Object(plumbing.NewHash(string(c.Data[5:45])))
		if err != nil {
			return err
		}
		if found, err := s.Has(plumbing.Hash(t.Data[len(t.Data)-20:])); err != nil || !found {
			return fmt.Errorf("the file of %s is missing: %w", at, err)
		}
		if at == first {
			return nil
		}
		at = plumbing.NewHash(string(c.Data[53:93]))
	}
}

// The directories of a log, written again with every append, must come down to about what stock git makes of them.
func TestCompactIsAsSmallAsStockGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var parent plumbing.Hash
	var entries []byte
	for i := range 100 {
		file := blob(fmt.Sprintf("{\"id\":%d,\"text\":\"the note with the number %d, and some more words\"}", i, i*i))
		entries = append(append(entries, fmt.Sprintf("100644 %026d.json\x00", i)...), file.Hash[:]...)
		hour := gitstore.NewObject(plumbing.TreeObject, slices.Clone(entries))
		root := gitstore.NewObject(plumbing.TreeObject, append([]byte("40000 07\x00"), hour.Hash[:]...))
		text := fmt.Sprintf("tree %s\n", root.Hash)
		if i > 0 {
			text += fmt.Sprintf("parent %s\n", parent)
		}
		text += "author a <a@example.invalid> 1700000000 +0000\ncommitter a <a@example.invalid> 1700000000 +0000\n\nnote\n"
		commit := gitstore.NewObject(plumbing.CommitObject, []byte(text))
		if _, err := s.WritePack([]gitstore.Object{file, hour, root, commit}); err != nil {
			t.Fatal(err)
		}
		parent = commit.Hash
	}
	if err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, parent); err != nil {
		t.Fatal(err)
	}
	stats := compact(t, s)
	fsck(t, s.Dir())
	git(t, s.Dir(), "repack", "-adfq")
	info, err := os.Stat(packs(t, s.Dir())[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes in small packs, %d joined, %d by git repack", stats.Before, stats.After, info.Size())
	if stats.After > info.Size()*115/100 {
		t.Errorf("%d bytes, stock git needs %d", stats.After, info.Size())
	}
}
