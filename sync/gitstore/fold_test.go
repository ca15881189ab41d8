package gitstore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// logLike are the objects of n appends to a log: a file that resembles the others, the directories on the way to it, a
// commit.
func logLike(first, n int) []gitstore.Object {
	r := rand.New(rand.NewPCG(uint64(first), 1))
	var all []gitstore.Object
	var entries []byte
	parent := plumbing.NewHash(fmt.Sprintf("%040x", first+1))
	for i := first; i < first+n; i++ {
		words := ""
		for range 40 {
			words += []string{"the ", "queue ", "drops ", "a ", "note ", "when ", "Postgres ", "restarts ", "twice "}[r.IntN(9)]
		}
		file := blob(fmt.Sprintf("{\n \"id\": %d,\n \"device\": \"7abq2mfk5zr3nx4w6yt9ce8hdj\",\n \"text\": %q,\n \"key\": \"%s\",\n \"sig\": \"%x\"\n}\n",
			i, words, "QmFzZTY0IG9mIGEga2V5IHRoYXQgYWxsIG5vdGVzIHNoYXJl", r.Uint64()))
		entries = append(fmt.Appendf(entries, "100644 %026d.json\x00", i), file.Hash[:]...)
		hour := gitstore.NewObject(plumbing.TreeObject, slices.Clone(entries))
		day := gitstore.NewObject(plumbing.TreeObject, fmt.Appendf(nil, "40000 %02d\x00%s", first%90, hour.Hash[:]))
		commit := gitstore.NewObject(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nparent %s\n%s", day.Hash, parent,
			"author 7abq <7abq@example.invalid> 1700000000 +0000\ncommitter 7abq <7abq@example.invalid> 1700000000 +0000\n\nnote\n"))
		parent = commit.Hash
		all = append(all, file, hour, day, commit)
	}
	return all
}

func writeObjects(t testing.TB, s *gitstore.Store, objs []gitstore.Object) {
	t.Helper()
	if _, err := s.WritePack(objs); err != nil {
		t.Fatal(err)
	}
	release(t, s)
}

// release ends the protection of packs that no ref leads to.
func release(t testing.TB, s *gitstore.Store) {
	t.Helper()
	lock, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func packSizes(t testing.TB, dir string) (sizes []int64) {
	t.Helper()
	for _, p := range packs(t, dir) {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	return sizes
}

// An import leaves one large pack, written in haste. It is not for ever, though it has no others beside it.
func TestOneHastyPackIsFoldedOnceItIsLarge(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	objs := logLike(0, 200)
	writeObjects(t, s, objs)
	hasty := packSizes(t, s.Dir())[0]
	if stats, err := s.CompactHasty(t.Context(), hasty+1); err != nil || stats.Packs != 0 {
		t.Errorf("not enough of it yet: %+v, %v", stats, err)
	}
	stats, err := s.CompactHasty(t.Context(), hasty)
	if err != nil || stats.Packs != 1 || stats.After > stats.Before/2 {
		t.Errorf("%+v, %v", stats, err)
	}
	if again, err := s.CompactHasty(t.Context(), 0); err != nil || again.Packs != 0 {
		t.Errorf("folded again: %+v, %v", again, err)
	}
	for _, o := range objs {
		mustObject(t, s, o)
	}
	fsckObjects(t, s.Dir())
}

func TestCompactNowMindsOneSmallPack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	writeObjects(t, s, logLike(0, 3))
	if stats, err := s.Compact(t.Context()); err != nil || stats.Packs != 0 {
		t.Errorf("not enough: %+v, %v", stats, err)
	}
	if stats, err := s.CompactNow(t.Context()); err != nil || stats.Packs != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if again, err := s.CompactNow(t.Context()); err != nil || again.Packs != 0 {
		t.Errorf("there is nothing left to do: %+v, %v", again, err)
	}
}

// The bound that docs/PERFORMANCE.md gives: what stock git needs after the hardest it can do.
func TestFoldedPacksAreSmallerThanStockGits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 12 {
		writeObjects(t, s, logLike(100*i, 25))
	}
	var ids strings.Builder
	for _, h := range listObjects(t, s.Dir()) {
		fmt.Fprintln(&ids, h)
	}
	stats := compact(t, s)
	fsckObjects(t, s.Dir())
	theirs := filepath.Join(t.TempDir(), "theirs")
	if _, err := tryGit(t, s.Dir(), ids.String(), "pack-objects", "-q", "--no-reuse-delta", "--no-reuse-object", theirs); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(theirs + "-*.pack")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	info, err := os.Stat(names[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes in hasty packs, %d folded, %d by git repack", stats.Before, stats.After, info.Size())
	if stats.After > info.Size() {
		t.Errorf("folded they take %d bytes, and stock git needs %d", stats.After, theirs[0])
	}
}

// folded writes objects into a pack of their own and folds it.
func folded(t testing.TB, objs []gitstore.Object) []byte {
	t.Helper()
	s := newStore(t)
	writeObjects(t, s, objs)
	if stats, err := s.CompactHasty(t.Context(), 0); err != nil || stats.Packs != 1 {
		t.Fatalf("%+v, %v", stats, err)
	}
	all := packs(t, s.Dir())
	data, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withFolded is a repository of folded packs of several sizes, and what is in them.
func withFolded(t testing.TB, counts ...int) (*gitstore.Store, []gitstore.Object) {
	t.Helper()
	s := newStore(t)
	var all []gitstore.Object
	for i, n := range counts {
		objs := logLike(1000*i, n)
		all = append(all, objs...)
		if err := receive(t, s, folded(t, objs)).Publish(); err != nil {
			t.Fatal(err)
		}
	}
	release(t, s)
	return s, all
}

func TestLargePacksAreJoinedAsTheyAre(t *testing.T) {
	t.Parallel()
	s, all := withFolded(t, 20, 30, 25, 400)
	stats, err := s.JoinAt(t.Context(), 1)
	if err != nil || stats.Packs != 3 || stats.Objects != 4*75 {
		t.Errorf("the three that the fourth does not outweigh: %+v, %v", stats, err)
	}
	const heads, trailers = 3*12 - 12, 3*20 - 20
	if stats.Before-stats.After != heads+trailers {
		t.Errorf("%d bytes became %d: they were not copied as they are", stats.Before, stats.After)
	}
	afresh := openStore(t, s.Dir())
	for _, o := range all {
		mustObject(t, afresh, o)
	}
	fsckObjects(t, s.Dir())
	if again, err := s.JoinAt(t.Context(), 1); err != nil || again.Packs != 0 {
		t.Errorf("joined again: %+v, %v", again, err)
	}
}

// An object that is in two packs must not be in a pack twice.
func TestPacksWithACommonObjectAreFoldedInstead(t *testing.T) {
	t.Parallel()
	s, all := withFolded(t, 20)
	again := folded(t, append(logLike(5000, 20), all[:8]...))
	dir := filepath.Join(s.Dir(), "objects", "pack")
	write(t, filepath.Join(dir, "pack-twice.pack"), string(again))
	git(t, s.Dir(), "index-pack", filepath.Join(dir, "pack-twice.pack"))
	stats, err := s.JoinAt(t.Context(), 1)
	if err != nil || stats.Packs != 2 || stats.Objects != 4*40 {
		t.Errorf("%+v, %v", stats, err)
	}
	fsckObjects(t, s.Dir())
}

// A byte that has changed on disk must not be taken along under a new checksum.
func TestADamagedPackIsNotJoined(t *testing.T) {
	t.Parallel()
	s, _ := withFolded(t, 20, 30)
	sizes := packSizes(t, s.Dir())
	damaged := packs(t, s.Dir())[0]
	overwrite(t, damaged, sizes[0]/2)
	before, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	again := openStore(t, s.Dir())
	stats, err := again.JoinAt(t.Context(), 1)
	if err != nil || stats.Damaged != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if after, err := os.ReadFile(damaged); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was not left alone: %v", err)
	}
	if stats, err := again.JoinAt(t.Context(), 1); err != nil || stats.Damaged != 0 {
		t.Errorf("and is tried again and again: %+v, %v", stats, err)
	}
}
