package gitstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// mustAgree compares everything that a store reads with what stock git reads.
func mustAgree(t testing.TB, s *gitstore.Store) {
	t.Helper()
	ids, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	if want := listObjects(t, s.Dir()); !slices.Equal(ids, want) {
		t.Errorf("%d objects, stock git sees %d", len(ids), len(want))
	}
	out := git(t, s.Dir(), "cat-file", "--batch-all-objects", "--batch")
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		f := strings.Fields(head)
		n, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		id, data := plumbing.NewHash(f[0]), rest[:n]
		out = rest[n+1:]
		o, err := s.Object(id)
		if err != nil || o.Hash != id || o.Type.String() != f[1] || string(o.Data) != data {
			t.Errorf("object %s: %s of %d bytes, %v; stock git has %s of %d", id, o.Type, len(o.Data), err, f[1], n)
		}
		kind, size, err := s.Size(id)
		if err != nil || kind.String() != f[1] || size != int64(n) {
			t.Errorf("size of %s: %s, %d, %v; stock git has %s of %d", id, kind, size, err, f[1], n)
		}
		mustHave(t, s, id, true)
	}
}

func TestReadsWhatStockGitWrites(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(dir string){
		"as imported":      func(string) {},
		"loose":            func(dir string) { unpackAll(t, dir) },
		"deep deltas":      func(dir string) { git(t, dir, "repack", "-adfq", "--depth=50") },
		"deltas by id":     func(dir string) { git(t, dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq") },
		"several packs":    func(dir string) { split(t, dir) },
		"after gc":         func(dir string) { git(t, dir, "gc", "-q", "--aggressive", "--prune=now") },
		"multi-pack-index": func(dir string) { split(t, dir); git(t, dir, "multi-pack-index", "write") },
		"maintenance":      func(dir string) { unpackAll(t, dir); git(t, dir, "maintenance", "run", "--task=loose-objects") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := history(t, 20)
			git(t, dir, "tag", "-a", "-m", "a tag", "v1", "main~2")
			prepare(dir)
			mustAgree(t, openStore(t, dir))
		})
	}
}

// unpackAll turns every object into a loose one.
func unpackAll(t testing.TB, dir string) {
	t.Helper()
	for _, p := range packs(t, dir) {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		remove(t, p)
		remove(t, strings.TrimSuffix(p, ".pack")+".idx")
		if out, err := tryGit(t, dir, string(data), "unpack-objects", "-q"); err != nil {
			t.Fatalf("git unpack-objects: %v\n%s", err, out)
		}
	}
}

// split distributes the history over several packs, some objects in two of them, and leaves some loose.
func split(t testing.TB, dir string) {
	t.Helper()
	var parts [][]byte
	for _, revs := range []string{"main~15\n", "main~8\n^main~14\n", "main~9\n^main~16\n", "main~2\n^main~8\n"} {
		parts = append(parts, packOf(t, dir, revs))
	}
	unpackAll(t, dir)
	for _, pack := range parts {
		if out, err := tryGit(t, dir, string(pack), "index-pack", "--stdin"); err != nil {
			t.Fatalf("git index-pack: %v\n%s", err, out)
		}
	}
	git(t, dir, "prune-packed")
}

// Packs of some tools count on others for their bases. Stock git does not make them, and reads them all the same.
func TestDeltaWhoseBaseIsInAnotherPack(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("b"), 500)
	for name, storeBase := range map[string]func(dir string){
		"packed": func(dir string) {
			addPack(t, dir, encodePack([]rawEntry{whole(base)}), gitstore.NewObject(plumbing.BlobObject, base))
		},
		"loose": func(dir string) {
			if out, err := tryGit(t, dir, string(base), "hash-object", "-w", "--stdin"); err != nil {
				t.Fatal(err, out)
			}
		},
	} {
		s := newStore(t)
		storeBase(s.Dir())
		grown := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), "tail"...))
		id := gitstore.NewObject(plumbing.BlobObject, base).Hash
		addPack(t, s.Dir(), encodePack([]rawEntry{refDelta(id, appendingDelta(len(base), "tail"))}), grown)
		mustObject(t, s, grown)
		if kind, n, err := s.Size(grown.Hash); err != nil || kind != plumbing.BlobObject || n != int64(len(grown.Data)) {
			t.Errorf("%s: size %s %d, %v", name, kind, n, err)
		}
		var pack bytes.Buffer
		if err := s.EncodePack(&pack, []plumbing.Hash{grown.Hash}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mustObject(t, receive(t, newStore(t), pack.Bytes()), grown)
	}
}

// addPack puts a pack of one entry and an index for it into a repository, past every check.
func addPack(t testing.TB, dir string, pack []byte, o gitstore.Object) {
	t.Helper()
	sum := pack[len(pack)-20:]
	base := filepath.Join(dir, "objects", "pack", fmt.Sprintf("pack-%x", sum))
	write(t, base+".idx", string(oneEntryIndex(o.Hash, pack)))
	write(t, base+".pack", string(pack))
}

func TestDeltaThatGrowsFromItself(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	o := blob("never seen")
	addPack(t, s.Dir(), encodePack([]rawEntry{refDelta(o.Hash, appendingDelta(10, "tail"))}), o)
	for name, call := range map[string]func() error{
		"Object": func() error { _, err := s.Object(o.Hash); return err },
		"Size":   func() error { _, _, err := s.Size(o.Hash); return err },
	} {
		if _, ok := errors.AsType[*gitstore.CorruptError](call()); !ok {
			t.Errorf("%s: want a CorruptError", name)
		}
	}
}

func TestDamagedObjectIsNotAMissingOne(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, s *gitstore.Store){
		"flipped byte": func(t *testing.T, s *gitstore.Store) { overwrite(t, packs(t, s.Dir())[0], 16) },
		"torn pack":    func(t *testing.T, s *gitstore.Store) { cut(t, packs(t, s.Dir())[0], 30) },
		"empty pack":   func(t *testing.T, s *gitstore.Store) { overwriteAll(t, packs(t, s.Dir())[0], "") },
		"torn index":   func(t *testing.T, s *gitstore.Store) { cut(t, indexes(t, s.Dir())[0], 10) },
		"empty index":  func(t *testing.T, s *gitstore.Store) { overwriteAll(t, indexes(t, s.Dir())[0], "") },
		"zeroed index": func(t *testing.T, s *gitstore.Store) {
			overwriteAll(t, indexes(t, s.Dir())[0], strings.Repeat("\x00", 1100))
		},
		"wrong index": func(t *testing.T, s *gitstore.Store) { overwrite(t, indexes(t, s.Dir())[0], 1040) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			o := blob("a note that will be damaged, and long enough for that")
			if _, err := s.WritePack([]gitstore.Object{o}); err != nil {
				t.Fatal(err)
			}
			spoil(t, s)
			again := openStore(t, s.Dir())
			_, err := again.Object(o.Hash)
			if _, ok := errors.AsType[*gitstore.CorruptError](err); !ok || errors.Is(err, plumbing.ErrObjectNotFound) {
				t.Errorf("got %v, want a CorruptError", err)
			}
			// Everything else goes on, and a second copy heals it.
			appendCommit(t, again, "life goes on")
			mustGit(t, again.Dir(), string(o.Data), "hash-object", "-w", "--stdin")
			id := o.Hash.String()
			if _, err := os.Stat(filepath.Join(again.Dir(), "objects", id[:2], id[2:])); err == nil {
				mustObject(t, again, o)
			}
		})
	}
}

func mustGit(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	out, err := tryGit(t, dir, stdin, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// overwriteAll replaces a file that may be read-only.
func overwriteAll(t testing.TB, path, text string) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

func indexes(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.idx"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDamagedLooseObject(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := strings.TrimSpace(mustGit(t, s.Dir(), "some text", "hash-object", "-w", "--stdin"))
	path := filepath.Join(s.Dir(), "objects", id[:2], id[2:])
	h := plumbing.NewHash(id)
	mustObject(t, s, blob("some text"))
	for _, text := range []string{"", "x", string(deflated([]byte("blob 9\x00other txt"))), string(deflated([]byte("blob 99999999999\x00x"))),
		string(deflated([]byte("blob -1\x00"))), string(deflated([]byte("blob"))), string(deflated([]byte("ofs-delta 1\x00x")))} {
		overwriteAll(t, path, text)
		_, err := s.Object(h)
		if _, ok := errors.AsType[*gitstore.CorruptError](err); !ok {
			t.Errorf("%q: got %v, want a CorruptError", text, err)
		}
	}
}

func TestALonePackOrIndexIsIgnored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	appendCommit(t, s, "first")
	dir := filepath.Join(s.Dir(), "objects", "pack")
	write(t, filepath.Join(dir, "pack-1111.pack"), "no index")
	write(t, filepath.Join(dir, "pack-2222.idx"), "no pack")
	write(t, filepath.Join(dir, "new-3333.idx-draft"), "half an index")
	again := openStore(t, s.Dir())
	mustHave(t, again, blob("first").Hash, true)
	mustHave(t, again, blob("never").Hash, false)
	appendCommit(t, again, "second")
	fsck(t, s.Dir())
}

// A store that has been open for long finds what others have written, packed and repacked since.
func TestOpenStoreFollowsWhatOthersDo(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	other := openStore(t, s.Dir())
	first := appendCommit(t, other, "first")
	mustHave(t, s, first, true)
	for i := range 3 {
		appendCommit(t, other, fmt.Sprint(i))
		mustObject(t, s, blob(fmt.Sprint(i)))
		git(t, s.Dir(), "repack", "-adq")
		mustObject(t, s, blob(fmt.Sprint(i)))
		mustObject(t, s, blob("first"))
	}
	unpackAll(t, s.Dir())
	mustObject(t, s, blob("1"))
	if o, err := s.Object(blob("never").Hash); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("got %v, %v", o.Type, err)
	}
}

func TestEncodePackSendsExactlyWhatIsAsked(t *testing.T) {
	t.Parallel()
	dir := history(t, 30)
	split(t, dir)
	git(t, dir, "repack", "-dq") // a last pack with deltas
	s := openStore(t, dir)
	all, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][]plumbing.Hash{
		"nothing": nil, "one": all[:1], "every third": everyThird(all), "all": all, "some twice": append(all[:5:5], all[:9]...),
	} {
		var pack bytes.Buffer
		if err := s.EncodePack(&pack, ids); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := slices.Clone(ids)
		plumbing.HashesSort(want)
		if got := received(t, receive(t, newStore(t), pack.Bytes())); !slices.Equal(got, slices.Compact(want)) {
			t.Errorf("%s: sent %d objects, want %d", name, len(got), len(want))
		}
		mustGit(t, newStore(t).Dir(), pack.String(), "index-pack", "--stdin")
	}
	var pack bytes.Buffer
	err = s.EncodePack(&pack, append(all[:3:3], blob("never").Hash))
	if !errors.Is(err, plumbing.ErrObjectNotFound) || pack.Len() > 0 {
		t.Errorf("with a missing object: %v after %d bytes", err, pack.Len())
	}
}

func everyThird(ids []plumbing.Hash) (third []plumbing.Hash) {
	for i := 0; i < len(ids); i += 3 {
		third = append(third, ids[i])
	}
	return third
}

func TestEncodePackPassesDamageBy(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	appendCommit(t, s, "first")
	overwrite(t, packs(t, s.Dir())[0], 20)
	ids, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	err = s.EncodePack(&bytes.Buffer{}, ids)
	if _, ok := errors.AsType[*gitstore.CorruptError](err); !ok {
		t.Errorf("got %v, want a CorruptError", err)
	}
}

func TestEncodePackStopsWithItsReader(t *testing.T) {
	t.Parallel()
	dir := history(t, 30)
	s := openStore(t, dir)
	ids, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the reader has gone")
	if err := s.EncodePack(brokenWriter{gone}, ids); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWritePackWritesNothingTwice(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	objs := commitOf("one")
	name, err := s.WritePack(append(objs, objs...))
	if err != nil || !strings.HasPrefix(name, "pack-") {
		t.Fatalf("%q, %v", name, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), "objects", "pack", name+".pack")); err != nil {
		t.Error(err)
	}
	for _, again := range [][]gitstore.Object{nil, objs, objs[:1]} {
		if name, err := s.WritePack(again); err != nil || name != "" {
			t.Errorf("wrote %q, %v", name, err)
		}
	}
	if got := git(t, s.Dir(), "count-objects", "-v"); !strings.Contains(got, "in-pack: 3\n") {
		t.Errorf("want 3 objects:\n%s", got)
	}
}

// More objects than the cache holds, each read twice, come back the same.
func TestReadsBeyondTheCache(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var objs []gitstore.Object
	for i := range 60 {
		objs = append(objs, blob(strings.Repeat(fmt.Sprintf("object %d ", i), 40_000)))
	}
	if _, err := s.WritePack(objs); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, o := range objs {
			mustObject(t, s, o)
		}
	}
}

// Every level makes packs that stock git reads.
func TestLevels(t *testing.T) {
	t.Parallel()
	for _, level := range []int{0, 1, 9} {
		s := newStore(t, gitstore.WithLevel(level))
		appendCommit(t, s, strings.Repeat("some text that can be compressed ", 50))
		appendCommit(t, s, "")
		fsck(t, s.Dir())
		mustAgree(t, s)
	}
}
