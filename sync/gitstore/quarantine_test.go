package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// quarantine returns an empty quarantine of s.
func quarantine(t testing.TB, s *gitstore.Store) *gitstore.Quarantine {
	t.Helper()
	q, err := s.Quarantine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Discard(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// receive puts pack into a new quarantine of s.
func receive(t testing.TB, s *gitstore.Store, pack []byte) *gitstore.Quarantine {
	t.Helper()
	q := quarantine(t, s)
	if err := q.Receive(t.Context(), bytes.NewReader(pack), gitstore.Limits{}); err != nil {
		t.Fatal(err)
	}
	return q
}

// history returns a repository of n commits, each with a file that grows, made by stock git alone. Every call returns a
// new copy.
func history(t testing.TB, n int) string {
	t.Helper()
	histories.Lock()
	defer histories.Unlock()
	if histories.made[n] == "" {
		dir, err := os.MkdirTemp("", "gitstore-history")
		if err != nil {
			t.Fatal(err)
		}
		importHistory(t, dir, n)
		histories.made[n] = dir
	}
	dir := filepath.Join(t.TempDir(), "stock.git")
	if err := os.CopyFS(dir, os.DirFS(histories.made[n])); err != nil {
		t.Fatal(err)
	}
	return dir
}

// histories are made once for all tests, and removed by TestMain.
var histories = struct {
	sync.Mutex
	made map[int]string
}{made: map[int]string{}}

func importHistory(t testing.TB, dir string, n int) {
	t.Helper()
	git(t, dir, "init", "-q", "--bare", "-b", "main", dir)
	var in strings.Builder
	text := ""
	for i := range n {
		text += fmt.Sprintf("line %d of a file that grows with every commit\n", i)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter a <a@example.invalid> %d +0000\ndata 5\nnote\n", 1700000000+i)
		fmt.Fprintf(&in, "M 100644 inline notes/all.txt\ndata %d\n%s\n", len(text), text)
		fmt.Fprintf(&in, "M 100644 inline notes/%03d.txt\ndata 8\nnote %02d\n\n", i, i%100)
	}
	if out, err := tryGit(t, dir, in.String(), "fast-import", "--quiet"); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

// packOf returns the pack stream that stock git makes of a range of revisions.
func packOf(t testing.TB, dir, revs string, options ...string) []byte {
	t.Helper()
	args := append([]string{"pack-objects", "--revs", "--stdout", "-q"}, options...)
	out, err := tryGit(t, dir, revs, args...)
	if err != nil {
		t.Fatalf("git pack-objects: %v\n%s", err, out)
	}
	return []byte(out)
}

// listObjects returns the ids of all objects that stock git sees in dir.
func listObjects(t testing.TB, dir string) []plumbing.Hash {
	t.Helper()
	out := git(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	var ids []plumbing.Hash
	for line := range strings.Lines(out) {
		ids = append(ids, plumbing.NewHash(strings.TrimSpace(line)))
	}
	return ids
}

func received(t testing.TB, q *gitstore.Quarantine) []plumbing.Hash {
	t.Helper()
	var ids []plumbing.Hash
	err := q.Each(t.Context(), func(o gitstore.Object) error {
		if want := gitstore.NewObject(o.Type, o.Data); want.Hash != o.Hash {
			t.Errorf("object %s has the contents of %s", o.Hash, want.Hash)
		}
		ids = append(ids, o.Hash)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	plumbing.HashesSort(ids)
	return ids
}

func TestPushOfAWholeHistory(t *testing.T) {
	t.Parallel()
	stock := history(t, 30)
	git(t, stock, "repack", "-adfq", "--depth=20")
	pack := packOf(t, stock, "main\n", "--delta-base-offset")
	s := newStore(t)
	q := receive(t, s, pack)

	want := listObjects(t, stock)
	if got := received(t, q); !slices.Equal(got, want) {
		t.Errorf("%d objects arrived, want %d", len(got), len(want))
	}
	for _, h := range want {
		mustHave(t, s, h, false)
		mustHave(t, q, h, true)
	}
	if err := q.Publish(); err != nil {
		t.Fatal(err)
	}
	main := plumbing.NewHash(strings.TrimSpace(git(t, stock, "rev-parse", "main")))
	if err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, main); err != nil {
		t.Fatal(err)
	}
	fsck(t, s.Dir())
	if got := listObjects(t, s.Dir()); !slices.Equal(got, want) {
		t.Errorf("%d objects stored, want %d", len(got), len(want))
	}
	if got := packs(t, s.Dir()); len(got) != 1 {
		t.Errorf("packs: %v", got)
	}
}

// packs lists the files in a repository's pack folder.
func packs(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestThinPushIsCompletedFromTheStore(t *testing.T) {
	t.Parallel()
	stock := history(t, 30)
	s := newStore(t)
	base := receive(t, s, packOf(t, stock, "main~10\n"))
	if err := base.Publish(); err != nil {
		t.Fatal(err)
	}
	for _, options := range [][]string{{"--thin"}, {"--thin", "--delta-base-offset"}} {
		pack := packOf(t, stock, "main\n^main~10\n", options...)
		if _, err := tryGit(t, t.TempDir(), string(pack), "index-pack", "--stdin"); err == nil {
			t.Fatalf("the pack is not thin")
		}
		q := receive(t, s, pack)
		for _, h := range received(t, q) {
			if !q.HasNew(h) {
				t.Errorf("%s arrived and is not new", h)
			}
			mustHave(t, s, h, false)
		}
		if err := q.Discard(); err != nil {
			t.Fatal(err)
		}
	}
	q := receive(t, s, packOf(t, stock, "main\n^main~10\n", "--thin"))
	if err := q.Publish(); err != nil {
		t.Fatal(err)
	}
	main := plumbing.NewHash(strings.TrimSpace(git(t, stock, "rev-parse", "main")))
	if err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, main); err != nil {
		t.Fatal(err)
	}
	fsck(t, s.Dir())
	if got := git(t, s.Dir(), "cat-file", "--batch-all-objects", "--batch-check", "--unordered"); strings.Count(got, "\n") != len(listObjects(t, stock)) {
		t.Errorf("objects: %s", got)
	}
	count := git(t, s.Dir(), "count-objects", "-v")
	if want := fmt.Sprintf("in-pack: %d\n", len(listObjects(t, stock))); !strings.Contains(count, want) {
		t.Errorf("an object is stored twice: want %s in\n%s", want, count)
	}
}

func TestThinPackWithoutItsBaseIsRefused(t *testing.T) {
	t.Parallel()
	stock := history(t, 30)
	pack := packOf(t, stock, "main\n^main~10\n", "--thin")
	s := newStore(t)
	err := quarantine(t, s).Receive(t.Context(), bytes.NewReader(pack), gitstore.Limits{})
	if _, ok := errors.AsType[*gitstore.BadPackError](err); !ok {
		t.Errorf("got %v, want a BadPackError", err)
	}
}

func TestReceiveLeavesWhatFollowsThePack(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	s := newStore(t)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"at once":      func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"by halves":    iotest.HalfReader,
	} {
		for _, pack := range [][]byte{packOf(t, stock, "main\n"), emptyPack()} {
			stream := bytes.NewReader(append(slices.Clip(pack), "and then more"...))
			if err := quarantine(t, s).Receive(t.Context(), wrap(stream), gitstore.Limits{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if rest, _ := io.ReadAll(stream); string(rest) != "and then more" {
				t.Errorf("%s: left %q", name, rest)
			}
		}
	}
}

func TestAddedObjectsGoAlong(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	s := newStore(t)
	q := receive(t, s, packOf(t, stock, "main\n"))
	main := plumbing.NewHash(strings.TrimSpace(git(t, stock, "rev-parse", "main")))
	merge := commitOf("merged", main)
	if err := q.Add(merge...); err != nil {
		t.Fatal(err)
	}
	for _, o := range merge {
		mustObject(t, q, o)
		mustHave(t, s, o.Hash, false)
	}
	if err := q.Publish(); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, merge[2].Hash); err != nil {
		t.Fatal(err)
	}
	if got := packs(t, s.Dir()); len(got) != 1 {
		t.Errorf("packs: %v", got)
	}
	fsck(t, s.Dir())
}

func TestPublishOfSomeObjects(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	q := quarantine(t, s)
	wanted, stray := commitOf("wanted"), blob("stray")
	if err := q.Receive(t.Context(), bytes.NewReader(packWith(t, append(wanted, stray)...)), gitstore.Limits{}); err != nil {
		t.Fatal(err)
	}
	var ids []plumbing.Hash
	for _, o := range wanted {
		ids = append(ids, o.Hash)
	}
	if err := q.Publish(append(ids, blob("never seen").Hash)...); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("publish of an object that is not there: %v", err)
	}
	if err := q.Publish(ids...); err != nil {
		t.Fatal(err)
	}
	mustHave(t, s, stray.Hash, false)
	for _, o := range wanted {
		mustObject(t, s, o)
	}
}

func TestPublishDoesNotStoreTwice(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	objs := commitOf("one")
	if _, err := s.WritePack(objs); err != nil {
		t.Fatal(err)
	}
	more := commitOf("two", objs[2].Hash)
	q := receive(t, s, packWith(t, append(objs, more...)...))
	if err := q.Publish(); err != nil {
		t.Fatal(err)
	}
	if got := git(t, s.Dir(), "count-objects", "-v"); !strings.Contains(got, "in-pack: 6\n") {
		t.Errorf("want 6 objects in packs:\n%s", got)
	}
	again := receive(t, s, packWith(t, append(objs, more...)...))
	if err := again.Publish(); err != nil {
		t.Fatal(err)
	}
	if got := packs(t, s.Dir()); len(got) != 2 {
		t.Errorf("packs: %v", got)
	}
}

func TestDiscardLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := tree(t, s.Dir())
	q := receive(t, s, packWith(t, commitOf("gone")...))
	if err := q.Discard(); err != nil {
		t.Fatal(err)
	}
	after := tree(t, s.Dir())
	after = slices.DeleteFunc(after, func(name string) bool { return name == filepath.Join("objects", "incoming") })
	if !slices.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	if err := q.Publish(); !errors.Is(err, gitstore.ErrQuarantine) {
		t.Errorf("publish after discard: %v", err)
	}
	if err := q.Receive(t.Context(), bytes.NewReader(emptyPack()), gitstore.Limits{}); !errors.Is(err, gitstore.ErrQuarantine) {
		t.Errorf("receive after discard: %v", err)
	}
}

// tree lists everything below dir.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		names = append(names, rel)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEachStopsAtTheFirstRefusal(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	git(t, stock, "repack", "-adfq")
	q := receive(t, newStore(t), packOf(t, stock, "main\n", "--delta-base-offset"))
	refusal := errors.New("refused")
	seen := 0
	err := q.Each(t.Context(), func(gitstore.Object) error {
		seen++
		if seen == 20 {
			return refusal
		}
		return nil
	})
	if err != refusal || seen != 20 {
		t.Errorf("got %v after %d objects", err, seen)
	}
}

func TestCanceledReceive(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q := quarantine(t, newStore(t))
	err := q.Receive(ctx, bytes.NewReader(packWith(t, blob("x"))), gitstore.Limits{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestOpenSweepsTheQuarantineOfTheDead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	alive := receive(t, s, packWith(t, blob("alive")))
	dead := filepath.Join(s.Dir(), "objects", "incoming", "dead")
	if err := os.MkdirAll(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"owner.lock", "received.pack"} {
		if err := os.WriteFile(filepath.Join(dead, name), []byte("remains"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openStore(t, s.Dir())
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead process's quarantine is still there: %v", err)
	}
	mustObject(t, alive, blob("alive"))
	if err := alive.Publish(); err != nil {
		t.Error(err)
	}
}

// emptyPack is what a sender with nothing to send sends.
func emptyPack() []byte { return encodePack(nil) }

// packWith returns a pack of whole objects, made by EncodePack of another repository.
func packWith(t testing.TB, objs ...gitstore.Object) []byte {
	t.Helper()
	s := newStore(t)
	if _, err := s.WritePack(objs); err != nil {
		t.Fatal(err)
	}
	var ids []plumbing.Hash
	for _, o := range objs {
		ids = append(ids, o.Hash)
	}
	var pack bytes.Buffer
	if err := s.EncodePack(&pack, ids); err != nil {
		t.Fatal(err)
	}
	return pack.Bytes()
}
