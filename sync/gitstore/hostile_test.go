package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

const kib64 = 1 << 16

func TestHostilePacksAreRefused(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("b"), kib64)
	id := gitstore.NewObject(plumbing.BlobObject, base).Hash
	grown := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), "tail"...))
	good := encodePack([]rawEntry{whole(base), ofsDelta(1, appendingDelta(kib64, "tail"))})

	for name, c := range map[string]struct {
		pack  []byte
		lim   gitstore.Limits
		limit bool // a LimitError, otherwise a BadPackError
	}{
		"not a pack":              {pack: []byte("GET / HTTP/1.1\r\n\r\nand so on and on")},
		"nothing":                 {pack: nil},
		"half a header":           {pack: good[:7]},
		"cut in an entry":         {pack: good[:40]},
		"cut in the trailer":      {pack: good[:len(good)-1]},
		"wrong checksum":          {pack: flip(good, len(good)-1)},
		"flipped byte":            {pack: flip(good, 30)},
		"version 3":               {pack: flip(good, 7)},
		"type 5":                  {pack: encodePack([]rawEntry{{kind: 5, size: 3, data: []byte("abc")}})},
		"shorter than it claims":  {pack: encodePack([]rawEntry{{kind: plumbing.BlobObject, size: 9, data: []byte("abc")}})},
		"longer than it claims":   {pack: encodePack([]rawEntry{{kind: plumbing.BlobObject, size: 2, data: []byte("abc")}})},
		"base before the pack":    {pack: encodePack([]rawEntry{ofsDelta(0, appendingDelta(kib64, "x"))})},
		"delta of the wrong base": {pack: encodePack([]rawEntry{whole(base[1:]), ofsDelta(1, appendingDelta(kib64, "x"))})},
		"delta without end":       {pack: encodePack([]rawEntry{whole(base), ofsDelta(1, []byte{0xff, 0xff})})},
		"delta copies too far":    {pack: encodePack([]rawEntry{whole(base), ofsDelta(1, farCopy())})},
		"delta of nothing":        {pack: encodePack([]rawEntry{whole(base), ofsDelta(1, nil)})},
		"missing base":            {pack: encodePack([]rawEntry{refDelta(grown.Hash, appendingDelta(kib64, "x"))})},
		"each other's base":       {pack: encodePack(circle(base))},

		"too many bytes":   {pack: good, lim: gitstore.Limits{Bytes: 50}, limit: true},
		"too many objects": {pack: good, lim: gitstore.Limits{Objects: 1}, limit: true},
		"too big":          {pack: good, lim: gitstore.Limits{ObjectSize: kib64 - 1}, limit: true},
		"too big by delta": {pack: good, lim: gitstore.Limits{ObjectSize: kib64 + 3}, limit: true},
		"too much in all":  {pack: good, lim: gitstore.Limits{Inflated: 2 * kib64}, limit: true},
		"too deep":         {pack: chain(base, 4), lim: gitstore.Limits{Depth: 3}, limit: true},
		"claims a petabyte": {
			pack:  encodePack([]rawEntry{{kind: plumbing.BlobObject, size: 1 << 50, data: []byte("abc")}}),
			limit: true,
		},
		"claims 4 billion objects": {pack: append([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), good[12:]...), limit: true},
		"copies itself a million times": {
			pack:  encodePack([]rawEntry{whole(base), ofsDelta(1, bombDelta(1<<14))}),
			limit: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			q := quarantine(t, s)
			err := q.Receive(t.Context(), bytes.NewReader(c.pack), c.lim)
			_, limit := errors.AsType[*gitstore.LimitError](err)
			_, bad := errors.AsType[*gitstore.BadPackError](err)
			if c.limit && !limit || !c.limit && !bad {
				t.Errorf("got %v", err)
			}
			mustHave(t, q, id, false)
			if err := q.Discard(); err != nil {
				t.Error(err)
			}
		})
	}

	q := receive(t, newStore(t), good)
	mustObject(t, q, grown)
	q = receive(t, newStore(t), chain(base, 4))
	if got := len(received(t, q)); got != 5 {
		t.Errorf("%d objects in the chain, want 5", got)
	}
}

func flip(b []byte, i int) []byte {
	b = slices.Clone(b)
	b[i] ^= 1
	return b
}

func farCopy() []byte {
	d := append(sizeBytes(kib64), sizeBytes(10)...)
	return append(d, 0x80|0x01|0x04|0x10, 0xff, 0xff, 10)
}

// chain is a pack of n deltas, each grown from the one before.
func chain(base []byte, n int) []byte {
	entries := []rawEntry{whole(base)}
	for i := range n {
		entries = append(entries, ofsDelta(1, appendingDelta(len(base)+i, "x")))
	}
	return encodePack(entries)
}

// circle is two deltas, each of which names what the other makes as its base.
func circle(base []byte) []rawEntry {
	a := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), 'a')).Hash
	b := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), 'b')).Hash
	return []rawEntry{refDelta(a, appendingDelta(kib64, "b")), refDelta(b, appendingDelta(kib64, "a"))}
}

// A small pack that would inflate to gigabytes must be refused before the memory is taken.
func TestDeltaBombTakesNoMemory(t *testing.T) {
	base := make([]byte, kib64)
	pack := encodePack([]rawEntry{whole(base), ofsDelta(1, bombDelta(1<<14))}) // 1 GiB
	if len(pack) > 16<<10 {
		t.Fatalf("the bomb has %d bytes, it should be small", len(pack))
	}
	s := newStore(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := quarantine(t, s).Receive(t.Context(), bytes.NewReader(pack), gitstore.Limits{})
	runtime.ReadMemStats(&after)
	if _, ok := errors.AsType[*gitstore.LimitError](err); !ok {
		t.Errorf("got %v, want a LimitError", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("refusing it took %d bytes", taken)
	}
}

// An object that comes twice, once as a delta that grows from itself by way of another, has solid ground in its whole copy.
func TestObjectThatComesTwice(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("b"), 1000)
	x := gitstore.NewObject(plumbing.BlobObject, base)
	y := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), "tail"...))
	back := append(append(sizeBytes(len(y.Data)), sizeBytes(len(base))...), 0x80|0x10|0x20, byte(len(base)&0xff), byte(len(base)>>8))
	for _, entries := range [][]rawEntry{
		{whole(base), refDelta(x.Hash, appendingDelta(len(base), "tail")), refDelta(y.Hash, back)},
		{refDelta(y.Hash, back), refDelta(x.Hash, appendingDelta(len(base), "tail")), whole(base)},
		{whole(base), whole(base), ofsDelta(1, appendingDelta(len(base), "tail")), ofsDelta(1, back), ofsDelta(4, appendingDelta(len(base), "tail"))},
	} {
		s := newStore(t)
		q := receive(t, s, encodePack(entries))
		mustObject(t, q, x)
		mustObject(t, q, y)
		if got := received(t, q); len(got) != 2 {
			t.Errorf("arrived: %v", got)
		}
		if err := q.Publish(); err != nil {
			t.Fatal(err)
		}
		mustObject(t, s, x)
		mustObject(t, s, y)
		if got := git(t, s.Dir(), "count-objects", "-v"); !strings.Contains(got, "in-pack: 2\n") {
			t.Errorf("want two objects:\n%s", got)
		}
		fsckObjects(t, s.Dir())
	}
}

// A stepContext counts how often a walk asks whether to go on.
type stepContext struct {
	context.Context
	steps int
}

func (c *stepContext) Err() error {
	c.steps++
	return c.Context.Err()
}

// Every copy of an object is the base of every delta that names it, and each of the deltas is still looked at once.
func TestManyCopiesOfManyBasesAreReadOnce(t *testing.T) {
	t.Parallel()
	const many = 2000
	base := []byte("base")
	id := gitstore.NewObject(plumbing.BlobObject, base).Hash
	same := append(append(sizeBytes(len(base)), sizeBytes(len(base))...), 0x80|0x10, byte(len(base)))
	var copies, deltas []rawEntry
	for i := range many {
		copies = append(copies, whole(base))
		deltas = append(deltas, refDelta(id, appendingDelta(len(base), fmt.Sprint(i))))
	}
	for name, entries := range map[string][]rawEntry{
		"whole copies":            append(copies, deltas...),
		"copies that are deltas":  append([]rawEntry{whole(base), ofsDelta(1, same), ofsDelta(1, same), ofsDelta(1, same)}, deltas...),
		"copies that name a base": append([]rawEntry{whole(base), refDelta(id, same), refDelta(id, same), refDelta(id, same)}, deltas...),
	} {
		q, err := newStore(t).Quarantine()
		if err != nil {
			t.Fatal(err)
		}
		ctx := &stepContext{Context: t.Context()}
		if err := q.Receive(ctx, bytes.NewReader(encodePack(entries)), gitstore.Limits{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := received(t, q); len(got) != many+1 {
			t.Errorf("%s: %d objects arrived", name, len(got))
		}
		if ctx.steps > 4*len(entries) {
			t.Errorf("%s: %d steps for %d entries", name, ctx.steps, len(entries))
		}
		if err := q.Discard(); err != nil {
			t.Error(err)
		}
	}
}

// fsckObjects is fsck for a repository whose objects no ref reaches.
func fsckObjects(t testing.TB, dir string) {
	t.Helper()
	for _, p := range packs(t, dir) {
		git(t, dir, "verify-pack", p)
	}
}

// With the store's copy as ground a pack could be resolved whose object, read back from that pack, grows from itself.
func TestPackThatGrowsFromItselfByWayOfTheStore(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("b"), 1000)
	x := gitstore.NewObject(plumbing.BlobObject, base)
	y := gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(base), "tail"...))
	back := append(append(sizeBytes(len(y.Data)), sizeBytes(len(base))...), 0x80|0x10|0x20, byte(len(base)&0xff), byte(len(base)>>8))
	s := newStore(t)
	if _, err := s.WritePack([]gitstore.Object{x}); err != nil {
		t.Fatal(err)
	}
	pack := encodePack([]rawEntry{refDelta(x.Hash, appendingDelta(len(base), "tail")), refDelta(y.Hash, back)})
	err := quarantine(t, s).Receive(t.Context(), bytes.NewReader(pack), gitstore.Limits{})
	if _, ok := errors.AsType[*gitstore.BadPackError](err); !ok {
		t.Errorf("got %v, want a BadPackError", err)
	}
}

// A long chain of big objects does not fit into memory at once; what had to be dropped is rebuilt on the way back.
func TestDeepChainOfBigObjectsWithBranches(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	base := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	entries := []rawEntry{whole(base)}
	want := []gitstore.Object{gitstore.NewObject(plumbing.BlobObject, base)}
	parent := 0
	for i := range 16 {
		tail := fmt.Sprintf("t%d", i)
		entries = append(entries, ofsDelta(len(entries)-parent, appendingDelta(len(want[parent].Data), tail)))
		want = append(want, gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(want[parent].Data), tail...)))
		if i%2 == 0 {
			parent = len(entries) - 1
		}
	}
	// Branches from early entries, listed last, so that the walk returns to each.
	for i := 0; i < 17; i += 5 {
		leaf := fmt.Sprintf("leaf %d", i)
		entries = append(entries, ofsDelta(len(entries)-i, appendingDelta(len(want[i].Data), leaf)))
		want = append(want, gitstore.NewObject(plumbing.BlobObject, append(slices.Clip(want[i].Data), leaf...)))
	}
	q := receive(t, newStore(t), encodePack(entries))
	for _, i := range []int{0, 5, 16, 18, 20} {
		mustObject(t, q, want[i])
	}
	ids := map[plumbing.Hash]bool{}
	for _, o := range want {
		ids[o.Hash] = true
	}
	if got := received(t, q); len(got) != len(ids) {
		t.Errorf("%d objects arrived, want %d", len(got), len(ids))
	}
}

func FuzzReceive(f *testing.F) {
	base := bytes.Repeat([]byte("b"), 200)
	id := gitstore.NewObject(plumbing.BlobObject, base).Hash
	f.Add(emptyPack())
	f.Add(chain(base, 3))
	f.Add(encodePack([]rawEntry{whole(base), refDelta(id, appendingDelta(len(base), "tail"))}))
	f.Add(encodePack(circle(base)))
	f.Add(encodePack([]rawEntry{{kind: plumbing.BlobObject, size: 1 << 50, data: base}}))
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	s := newStore(f)
	lim := gitstore.Limits{Bytes: 1 << 20, Objects: 100, ObjectSize: 1 << 20, Inflated: 4 << 20, Depth: 10}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := s.Quarantine()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := q.Discard(); err != nil {
				t.Error(err)
			}
		}()
		if err := q.Receive(t.Context(), bytes.NewReader(resum(data)), lim); err != nil {
			return
		}
		// Whatever was taken in can be read back, each object under its own id.
		for _, h := range received(t, q) {
			if _, err := q.Object(h); err != nil {
				t.Error(err)
			}
		}
	})
}

// resum gives data a correct checksum, so that fuzzing gets past it.
func resum(data []byte) []byte {
	if len(data) < 20 {
		return data
	}
	return append(slices.Clip(data[:len(data)-20]), sha1Sum(data[:len(data)-20])...)
}
