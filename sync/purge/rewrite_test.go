package purge_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/merge"
	"cairn/sync/purge"
)

// A world is a repository in memory in which histories grow without refs.
type world struct {
	*gittree.Overlay
	root plumbing.Hash
}

func (w world) Has(h plumbing.Hash) (bool, error) {
	_, err := w.Object(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (w world) WritePack(objects []gitstore.Object) (string, error) {
	w.Add(objects...)
	return "", nil
}

func newWorld(t testing.TB) world {
	t.Helper()
	l, err := eventlog.Create(disk.OS, filepath.Join(t.TempDir(), "s.git"), commitform.Space{Name: "personal", ID: event.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	return world{gittree.NewOverlay(l.Store()), head.Commit}
}

type fataler interface{ Fatal(...any) }

func (w world) keep(t fataler, objects ...gitstore.Object) {
	if _, err := w.WritePack(objects); err != nil {
		t.Fatal(err)
	}
}

func (w world) tree(t fataler, commit plumbing.Hash) plumbing.Hash {
	c, err := history.ReadCommit(w, commit)
	if err != nil {
		t.Fatal(err)
	}
	return c.Tree
}

// grow adds an event to the history that ends at head.
func (w world) grow(t fataler, head plumbing.Hash, text string) (plumbing.Hash, event.ID) {
	e := eventtest.Signed(eventtest.Note(text), "laptop")
	data, err := event.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	blob := gitstore.NewObject(plumbing.BlobObject, data)
	tree, made, err := gittree.Insert(w, w.tree(t, head), commitform.Path(e.ID), blob.Hash)
	if err != nil {
		t.Fatal(err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, head, commitform.HeadOf(e)))
	w.keep(t, append(made, blob, commit)...)
	return commit.Hash, e.ID
}

func (w world) join(t fataler, a, b plumbing.Hash) plumbing.Hash {
	g := history.New(w)
	if err := g.Add(a, b); err != nil {
		t.Fatal(err)
	}
	joined, err := merge.Heads(w, g, a, b)
	if err != nil {
		t.Fatal(err)
	}
	w.keep(t, joined.Objects...)
	return joined.Commit
}

func (w world) without(t fataler, head plumbing.Hash, gone ...event.ID) plumbing.Hash {
	to, err := purge.NewRewriter(w, gone).Head(context.Background(), head)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func (w world) events(t fataler, head plumbing.Hash) map[event.ID]plumbing.Hash {
	all := map[event.ID]plumbing.Hash{}
	err := gittree.Walk(w, w.tree(t, head), func(path string, blob plumbing.Hash) error {
		if id, ok := commitform.IDAt(path); ok {
			all[id] = blob
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// mustBeForm makes every commit of a history again from what it says.
func (w world) mustBeForm(t fataler, head plumbing.Hash) {
	g := history.New(w)
	if err := g.Add(head); err != nil {
		t.Fatal(err)
	}
	commits, err := g.Between([]plumbing.Hash{head}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range commits {
		c, err := history.ReadCommit(w, h)
		if err != nil {
			t.Fatal(err)
		}
		switch len(c.Parents) {
		case 0:
		case 2:
			want, _, err := merge.Commit(w, c.Parents[0], c.Parents[1])
			if err != nil || want.Hash != h {
				t.Fatal(fmt.Sprintf("commit %s is not the merge of its parents: %v", h, err))
			}
		default:
			w.mustBeEvent(t, h, c)
		}
	}
}

func (w world) mustBeEvent(t fataler, h plumbing.Hash, c history.Commit) {
	id, _ := commitform.EventOf(c.Raw)
	before, after := w.tree(t, c.Parents[0]), c.Tree
	n := 0
	err := gittree.Diff(w, before, after, func(ch gittree.Change) error {
		n++
		blob, err := w.Object(ch.New)
		if err != nil {
			return err
		}
		e, err := event.Decode(blob.Data)
		if err == nil && (e.ID != id || !bytes.Equal(c.Raw, commitform.Event(after, c.Parents[0], commitform.HeadOf(e)))) {
			err = errors.New("the commit is not its event's")
		}
		return err
	})
	if err != nil || n != 1 {
		t.Fatal(fmt.Sprintf("commit %s with %d changes: %v", h, n, err))
	}
}

// Whatever history there is, and whatever is taken out of it: the rest is all
// there, every commit has the form that a gate demands, what held none of the
// events stays as it was, and it does not matter whether the history was made
// again in one go or while it grew.
func TestAHistoryWithoutSomeEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		heads := []plumbing.Hash{w.root, w.root, w.root}
		var ids []event.ID
		half := w.root
		steps := rapid.IntRange(1, 12).Draw(t, "steps")
		for i := range steps {
			at := rapid.IntRange(0, 2).Draw(t, "at")
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				var id event.ID
				heads[at], id = w.grow(t, heads[at], fmt.Sprint("note ", i))
				ids = append(ids, id)
			} else {
				heads[at] = w.join(t, heads[at], heads[rapid.IntRange(0, 2).Draw(t, "with")])
			}
			if i == steps/2 {
				half = heads[0]
			}
		}
		head := w.join(t, w.join(t, heads[0], heads[1]), heads[2])
		gone := slices.DeleteFunc(slices.Clone(ids), func(event.ID) bool { return rapid.IntRange(0, 2).Draw(t, "gone") > 0 })

		to := w.without(t, head, gone...)
		want := w.events(t, head)
		for _, id := range gone {
			delete(want, id)
		}
		got := w.events(t, to)
		if len(got) != len(want) {
			t.Fatalf("%d events instead of %d", len(got), len(want))
		}
		for id, blob := range want {
			if got[id] != blob {
				t.Fatalf("event %s has other bytes", id)
			}
		}
		w.mustBeForm(t, to)
		if len(gone) == 0 && to != head {
			t.Fatal("nothing was taken out, and the head is another one")
		}
		stepwise := purge.NewRewriter(w, gone)
		if _, err := stepwise.Head(t.Context(), half); err != nil {
			t.Fatal(err)
		}
		if again, err := stepwise.Head(t.Context(), head); err != nil || again != to {
			t.Fatalf("in two steps it is %s, %v", again, err)
		}
		if again := w.without(t, to, gone...); again != to {
			t.Fatal("taking the same out twice changes the history twice")
		}
	})
}

// What came before the oldest event that is taken out stays, commit by commit.
func TestThePastOfAPurgeStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, _ := w.grow(t, w.root, "before")
	at, gone := w.grow(t, before, "to go")
	if to := w.without(t, at, gone); to != before {
		t.Errorf("without its last event the history ends at %s instead of %s", to, before)
	}
	side, _ := w.grow(t, before, "beside")
	if to := w.without(t, w.join(t, at, side), gone); to != side {
		t.Error("a merge with nothing but what is gone is not undone")
	}
	after, _ := w.grow(t, at, "after")
	if to := w.without(t, after, gone); to == after || w.tree(t, to) == w.tree(t, after) {
		t.Error("what came after was not made again")
	}
}

// key signs the records of these tests.
var key = eventtest.Key("hub")

func record(p commitform.Purge) commitform.Purge {
	return p.Sign(key.Public().(ed25519.PublicKey), func(b []byte) []byte { return ed25519.Sign(key, b) })
}

func (w world) record(t fataler, p commitform.Purge, previous plumbing.Hash) plumbing.Hash {
	commit, objects, err := purge.Write(p, previous)
	if err != nil {
		t.Fatal(err)
	}
	w.keep(t, objects...)
	return commit
}

func TestRecordsAreReadBackAndEachFaultIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	space := event.NewID(time.Now())
	first := commitform.Purge{
		Space: space, Epoch: 1, At: event.NewTime(time.Now()), By: eventtest.Device("admin"),
		From: commitform.Hash{1}, To: commitform.Hash{2},
		Events: []commitform.Purged{{ID: event.NewID(time.Now()), Blob: commitform.Hash{3}}},
	}
	second := first
	second.Epoch, second.Events = 2, []commitform.Purged{{ID: event.NewID(time.Now()), Blob: commitform.Hash{4}}}
	one := w.record(t, record(first), plumbing.ZeroHash)
	two := w.record(t, record(second), one)
	list, err := purge.Records(w, space, two)
	if err != nil || len(list) != 2 || list[0].Commit != one || list[1].Commit != two {
		t.Fatalf("read back %v, %v", list, err)
	}
	set := purge.NewSet(list)
	if id, ok := set.Event(plumbing.Hash{4}); set.Len() != 2 || !set.Has(first.Events[0].ID) || !ok || id != second.Events[0].ID {
		t.Errorf("the set is %v", set)
	}
	for name, bad := range w.badRecords(t, first, second, one) {
		_, err := purge.Records(w, space, bad)
		if _, ok := errors.AsType[*purge.RecordError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// badRecords are ends of chains that must not be followed.
func (w world) badRecords(t fataler, first, second commitform.Purge, one plumbing.Hash) map[string]plumbing.Hash {
	foreign, gap, forged, otherHub := second, second, record(second), second
	foreign.Space = event.NewID(time.Now())
	gap.Epoch = 3
	forged.To = commitform.Hash{9}
	other := eventtest.Key("another hub")
	otherHub = otherHub.Sign(other.Public().(ed25519.PublicKey), func(b []byte) []byte { return ed25519.Sign(other, b) })
	unsigned := second
	unsigned.Key, unsigned.Value = nil, nil
	none := record(commitform.Purge{Space: first.Space, Epoch: 2, At: first.At})
	event, _ := w.grow(t, w.root, "a note")
	return map[string]plumbing.Hash{
		"another space":     w.record(t, record(foreign), one),
		"a gap":             w.record(t, record(gap), one),
		"a missing start":   w.record(t, record(second), plumbing.ZeroHash),
		"a changed record":  w.record(t, forged, one),
		"another hub's key": w.record(t, otherHub, one),
		"no signature":      w.record(t, unsigned, one),
		"no event":          w.record(t, none, one),
		"an event commit":   event,
	}
}
