package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// tooMuch is more memory than a small file may cost, whatever it claims.
const tooMuch = 64 << 20

// thrifty fails if use allocates too much.
func thrifty(t *testing.T, use func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	use()
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > tooMuch {
		t.Errorf("it took %d bytes", taken)
	}
}

// readDamaged reads an object in every way. It is there and right, or else damaged: never anything other than its id says.
func readDamaged(t *testing.T, s *gitstore.Store, id plumbing.Hash) {
	t.Helper()
	o, err := s.Object(id)
	if err == nil && (o.Hash != id || gitstore.NewObject(o.Type, o.Data).Hash != id) {
		t.Errorf("%s is read for %s", o.Hash, id)
	}
	_, corrupt := errors.AsType[*gitstore.CorruptError](err)
	if err != nil && !corrupt && !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("read: %v", err)
	}
	kind, size, err := s.Size(id)
	if err == nil && (size < 0 || kind.IsDelta()) {
		t.Errorf("%s of %d bytes", kind, size)
	}
}

// Whatever a disk made of a loose object, it is read right or called damaged, and costs no memory that is not there.
func FuzzLooseObject(f *testing.F) {
	id := blob("some text").Hash
	for _, text := range []string{"blob 9\x00some text", "blob 5\x00some text", "blob 9999999999\x00x", "blob -1\x00", "tree 9\x00some text", "blob", ""} {
		f.Add(deflated([]byte(text)))
	}
	f.Add([]byte("not compressed at all"))
	f.Add([]byte{})
	s := newStore(f)
	name := filepath.Join(s.Dir(), "objects", id.String()[:2], id.String()[2:])
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			t.Fatal(err)
		}
		thrifty(t, func() { readDamaged(t, openStore(t, s.Dir()), id) })
	})
}

// The same for a pack and its index.
func FuzzStoredPack(f *testing.F) {
	base, other := []byte("the base of it all"), []byte("a base that is whole, in another pack")
	id := blob(string(base)).Hash
	add := func(pack []byte) { f.Add(pack, oneEntryIndex(id, pack)) }
	add(encodePack([]rawEntry{whole(base)}))
	add(encodePack([]rawEntry{{kind: plumbing.BlobObject, size: 1 << 30, data: base}}))
	add(encodePack([]rawEntry{refDelta(id, appendingDelta(len(base), "tail"))}))
	add(encodePack([]rawEntry{refDelta(id, append(sizeBytes(len(base)), sizeBytes(1<<30)...))}))
	add(encodePack([]rawEntry{ofsDelta(0, appendingDelta(len(base), "tail"))}))
	for _, size := range []int{len(other) + 4, 1 << 30} {
		add(encodePack([]rawEntry{refDelta(plumbing.Hash{1}, append(sizeBytes(len(other)), sizeBytes(size)...))}))
	}
	add(encodePack([]rawEntry{refDelta(plumbing.Hash{1}, appendingDelta(len(other), "tail"))}))
	f.Add(encodePack([]rawEntry{whole(base)}), []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2})
	f.Add([]byte("PACK"), []byte{})
	s := newStore(f)
	small := encodePack([]rawEntry{whole(other)})
	f.Fuzz(func(t *testing.T, pack, index []byte) {
		dir := filepath.Join(s.Dir(), "objects", "pack")
		for name, data := range map[string][]byte{
			"pack-" + strings.Repeat("1", 40): pack, "pack-" + strings.Repeat("2", 40): small,
		} {
			x := index
			if name[5] == '2' {
				x = oneEntryIndex(plumbing.Hash{1}, small)
			}
			for ext, data := range map[string][]byte{".idx": x, ".pack": data} {
				if err := os.WriteFile(filepath.Join(dir, name+ext), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		thrifty(t, func() { readDamaged(t, openStore(t, s.Dir()), id) })
		thrifty(t, func() {
			stats, err := openStore(t, s.Dir()).CompactAt(t.Context(), 2)
			if err == nil && stats.Objects > len(pack)+len(small) {
				t.Error(fmt.Sprint("more objects than bytes: ", stats))
			}
		})
	})
}
