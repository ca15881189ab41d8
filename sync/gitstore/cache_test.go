package gitstore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// sharing is newStore with a cache of the caller's.
func sharing(t *testing.T, c *gitstore.Cache) *gitstore.Store {
	t.Helper()
	s := newStore(t)
	s.ShareCache(c)
	return s
}

// readAll reads everything that is stored.
func readAll(t *testing.T, s *gitstore.Store) {
	t.Helper()
	ids, err := s.IDs()
	for _, id := range ids {
		if err == nil {
			_, err = s.Object(id)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// bulky is an object of some size that nobody has.
func bulky(seed uint64) gitstore.Object {
	r := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 8<<10)
	for i := range data {
		data[i] = 'a' + byte(r.IntN(26))
	}
	return gitstore.NewObject(plumbing.BlobObject, data)
}

func store(t *testing.T, s *gitstore.Store, objects ...gitstore.Object) {
	t.Helper()
	if _, err := s.WritePack(objects); err != nil {
		t.Fatal(err)
	}
}

func TestStoresShareOneBound(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	c := gitstore.NewCache(most)
	for n := range uint64(5) {
		s := sharing(t, c)
		for i := range uint64(5) {
			store(t, s, bulky(5*n+i))
		}
		readAll(t, s)
		if c.Bytes() < most/2 || c.Bytes() > most {
			t.Errorf("%d stores: the cache takes %d bytes, its bound is %d", n+1, c.Bytes(), most)
		}
	}
}

// What a store remembers goes with the pack that it is in, however that goes, and with the store.
func TestNothingIsRememberedOfPacksThatAreGone(t *testing.T) {
	t.Parallel()
	c := gitstore.NewCache(1 << 20)
	s, other := sharing(t, c), sharing(t, c)
	store(t, other, bulky(0))
	readAll(t, other)
	before := c.Bytes()
	for n := range 5 {
		store(t, s, bulky(uint64(n)))
		appendCommit(t, s, fmt.Sprint(n))
	}
	readAll(t, s)
	full := c.Bytes()
	if full <= before {
		t.Fatal("nothing is remembered at all")
	}
	if stats := compact(t, s); stats.Packs == 0 {
		t.Fatal("no pack went")
	}
	if c.Bytes() > before+1<<10 {
		t.Errorf("%d bytes of packs that were joined, of %d", c.Bytes()-before, full-before)
	}
	readAll(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c.Bytes() != before {
		t.Errorf("%d bytes of a store that is closed", c.Bytes()-before)
	}
}

// What is in quarantine may be refused: reading it leaves nothing, and pushes nothing out.
func TestWhatIsInQuarantineIsNotRemembered(t *testing.T) {
	t.Parallel()
	c := gitstore.NewCache(64 << 10)
	s, from := sharing(t, c), newStore(t)
	store(t, s, bulky(0))
	readAll(t, s)
	before := c.Bytes()
	var ids []plumbing.Hash
	for n := range uint64(20) {
		o := bulky(n + 1)
		store(t, from, o)
		ids = append(ids, o.Hash)
	}
	var pack bytes.Buffer
	if err := from.EncodePack(&pack, ids); err != nil {
		t.Fatal(err)
	}
	q := receive(t, s, pack.Bytes())
	for _, id := range ids {
		if _, err := q.Object(id); err != nil {
			t.Fatal(err)
		}
	}
	if c.Bytes() != before {
		t.Errorf("%d bytes are remembered, %d before", c.Bytes(), before)
	}
}
