package gitstore_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// Law: wherever objects are, and whatever is done to the packs between two of them, a scan reads what the store reads.
func TestAScanReadsWhatTheStoreReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newStore(t)
		var all []gitstore.Object
		for i := range rapid.IntRange(1, 4).Draw(rt, "packs") {
			objs := logLike(1000*i, rapid.IntRange(1, 12).Draw(rt, "appends"))
			writeObjects(t, s, objs)
			all = append(all, objs...)
		}
		scan := s.Scan()
		for range rapid.IntRange(1, 30).Draw(rt, "reads") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				compact(t, openStore(t, s.Dir()))
			case 1:
				none := plumbing.Hash{1, 2, 3}
				if _, err := scan.Object(none); !errors.Is(err, plumbing.ErrObjectNotFound) {
					rt.Fatalf("an object that is nowhere: %v", err)
				}
			default:
				mustScan(rt, scan, rapid.SampledFrom(all).Draw(rt, "object"))
			}
		}
	})
}

func mustScan(t *rapid.T, scan *gitstore.Scan, want gitstore.Object) {
	got, err := scan.Object(want.Hash)
	if err != nil || got.Hash != want.Hash || got.Type != want.Type || string(got.Data) != string(want.Data) {
		t.Fatalf("%s: %v %v", want.Hash, got.Hash, err)
	}
}

// A scan is no way around the checks: a changed byte is an error, unless there is a second copy.
func TestAScanOfADamagedPack(t *testing.T) {
	t.Parallel()
	s, all := withFolded(t, 30)
	name := packs(t, s.Dir())[0]
	for at := int64(20); at < packSizes(t, s.Dir())[0]; at += 50 {
		overwrite(t, name, at)
	}
	damaged, read := 0, 0
	scan := openStore(t, s.Dir()).Scan()
	for _, o := range all {
		got, err := scan.Object(o.Hash)
		_, corrupt := errors.AsType[*gitstore.CorruptError](err)
		switch {
		case corrupt:
			damaged++
		case err != nil || string(got.Data) != string(o.Data):
			t.Errorf("object %s: %v", o.Hash, err)
		default:
			read++
		}
	}
	if damaged < len(all)/2 {
		t.Errorf("%d objects of a spoiled pack were read, %d were not", read, damaged)
	}
	whole := newStore(t)
	writeObjects(t, whole, all)
	copyPacks(t, whole.Dir(), s.Dir())
	for _, o := range all {
		if got, err := scan.Object(o.Hash); err != nil || string(got.Data) != string(o.Data) {
			t.Fatalf("with a second copy: %v", err)
		}
	}
}

func copyPacks(t testing.TB, from, to string) {
	t.Helper()
	for _, p := range packs(t, from) {
		for _, name := range []string{strings.TrimSuffix(p, ".pack") + ".idx", p} {
			b, err := disk.ReadFile(disk.OS, name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(to, "objects", "pack", filepath.Base(name)), string(b))
		}
	}
}

// A rebuild of the index reads every file of a log: about each byte once, many at a time.
func TestAScanOfEverythingIsFewReads(t *testing.T) {
	t.Parallel()
	var all []gitstore.Object
	for hour := range 40 {
		all = append(all, logLike(100*hour, 25)...)
	}
	s := newStore(t)
	if err := receive(t, s, folded(t, all)).Publish(); err != nil {
		t.Fatal(err)
	}
	fs := countfs.New(disk.OS)
	again, err := gitstore.Open(fs, s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	// A history is read from its end.
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	for _, order := range [][]gitstore.Object{all, backwards} {
		scan, before, files := again.Scan(), fs.Count(), int64(0)
		for _, o := range order {
			if o.Type != plumbing.BlobObject {
				continue
			}
			files++
			if _, err := scan.Object(o.Hash); err != nil {
				t.Fatal(err)
			}
		}
		cost, size := fs.Count().Sub(before), packSizes(t, s.Dir())[0]
		if index := int64(28*len(all) + 2000); cost.Reads > files/20 || cost.Read > 2*size+index {
			t.Errorf("%d files of a pack of %d bytes took %d reads of %d bytes", files, size, cost.Reads, cost.Read)
		}
	}
}

// A catch-up by one event must not read the index of all.
func TestAScanOfOneObjectIsCheapHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	objs := make([]gitstore.Object, 40_000)
	for i := range objs {
		objs[i] = blob(strings.Repeat("x", i%7) + string(rune(i)))
	}
	objs = append(objs, blob("the one"))
	s := newStore(t)
	writeObjects(t, s, objs)
	fs := countfs.New(disk.OS)
	again, err := gitstore.Open(fs, s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	before := fs.Count()
	if _, err := again.Scan().Object(objs[len(objs)-1].Hash); err != nil {
		t.Fatal(err)
	}
	if cost := fs.Count().Sub(before); cost.Read > 16<<10 {
		t.Errorf("one of %d objects took %d bytes", len(objs), cost.Read)
	}
}
