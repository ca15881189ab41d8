package gitstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gitstore"
)

func tallyOf(ids ...plumbing.Hash) (t gitstore.Tally) {
	for _, h := range ids {
		t.Add(h)
	}
	return t
}

func TestATallyTellsSetsApart(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) (h plumbing.Hash) {
		copy(h[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 20, 20).Draw(t, "id"))
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfDistinct(id, rapid.ID[plumbing.Hash]).Draw(t, "ids")
		whole := tallyOf(ids...)
		if other := tallyOf(rapid.Permutation(ids).Draw(t, "order")...); other != whole {
			t.Fatalf("%v and %v in another order", whole, other)
		}
		cut := rapid.IntRange(0, len(ids)).Draw(t, "cut")
		left := tallyOf(ids[:cut]...)
		left.Join(tallyOf(ids[cut:]...))
		if left != whole {
			t.Fatalf("%v in one, %v in two parts", whole, left)
		}
		if more := id.Draw(t, "more"); tallyOf(append(slices.Clone(ids), more)...) == whole {
			t.Fatal("one more made no difference")
		}
		text, err := whole.MarshalText()
		var back gitstore.Tally
		if err != nil || back.UnmarshalText(text) != nil || back != whole {
			t.Fatalf("%v became %q and %v, %v", whole, text, back, err)
		}
	})
	for _, text := range []string{"", "3", "-1 " + plumbing.ZeroHash.String(), "1 abcd", "x " + plumbing.ZeroHash.String()} {
		if err := new(gitstore.Tally).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as a tally", text)
		}
	}
}

// What is sent as it is arrives as if it had been written object by object, even
// while the packs are rewritten.
func TestASnapshotIsSentWhateverBecomesOfThePacks(t *testing.T) {
	s := newStore(t)
	for i := range 5 {
		appendCommit(t, s, fmt.Sprint("commit ", i))
	}
	n, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ids, err := s.IDs()
	if err != nil || n.Tally() != tallyOf(ids...) {
		t.Fatalf("the tally %v is not that of %d objects, %v", n.Tally(), len(ids), err)
	}
	if stats, err := s.CompactAt(t.Context(), 2); err != nil || stats.Packs < 5 {
		t.Fatalf("%+v, %v", stats, err)
	}
	appendCommit(t, s, "later")
	var pack bytes.Buffer
	if err := n.Encode(t.Context(), &pack); err != nil {
		t.Fatal(err)
	}
	other := newStore(t)
	q, err := other.Quarantine()
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(q.Receive(t.Context(), bytes.NewReader(pack.Bytes()), gitstore.Limits{}), q.Publish())
	got, idsErr := other.IDs()
	if err := errors.Join(err, idsErr); err != nil || !slices.Equal(got, ids) {
		t.Errorf("%d objects arrived of %d, %v", len(got), len(ids), err)
	}
}

func TestWhatWasCountedIsKeptOrForgotten(t *testing.T) {
	s := newStore(t)
	if c, err := s.Counted(); err != nil || c != (gitstore.Counted{}) {
		t.Errorf("a new repository has counted %+v, %v", c, err)
	}
	want := gitstore.Counted{Tip: blob("x").Hash, Tally: tallyOf(blob("y").Hash)}
	for range 2 {
		if err := s.SetCounted(want); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := s.Counted(); err != nil || c != want {
		t.Errorf("kept %+v, %v", c, err)
	}
	file := filepath.Join(s.Dir(), "objects", "info", "cairn-counted")
	for _, text := range []string{"", "cairn counted 2\n", "cairn counted 1\nx\ny\n"} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, err := s.Counted(); err != nil || c != (gitstore.Counted{}) {
			t.Errorf("%q was read as %+v, %v", text, c, err)
		}
	}
}
