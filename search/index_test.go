package search_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/internal/event"
	"cairn/search"
)

// idAt is the id of an event of the n-th second of the tests' time.
func idAt(n int) event.ID { return event.NewID(time.Unix(1_750_000_000+int64(n), 0)) }

// note is a note of the n-th second that has only a text.
func note(n int, body string) search.Doc {
	id := idAt(n)
	return search.Doc{ID: id, Body: body, Recorded: id.Time()}
}

func open(t *testing.T, dir string) *search.Index {
	t.Helper()
	x, err := search.Open(dir, search.Unsynced(search.Options{Trouble: func(err error) { t.Error(err) }}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func apply(t *testing.T, x *search.Index, space string, docs ...search.Doc) {
	t.Helper()
	if err := x.Apply(t.Context(), search.Batch{Space: space, Put: docs}); err != nil {
		t.Fatal(err)
	}
}

type asker interface {
	Ask(context.Context, search.Query) (search.Result, error)
}

func ask(t *testing.T, x asker, text string) []event.ID {
	t.Helper()
	return askWith(t, x, search.Query{Text: text})
}

func askWith(t *testing.T, x asker, q search.Query) []event.ID {
	t.Helper()
	r, err := x.Ask(t.Context(), q)
	if err != nil {
		t.Fatalf("ask %q: %v", q.Text, err)
	}
	var ids []event.ID
	for _, h := range r.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func wantHits(t *testing.T, got []event.ID, want ...search.Doc) {
	t.Helper()
	var ids []event.ID
	for _, d := range want {
		ids = append(ids, d.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("found %v, want %v", got, ids)
	}
}

func TestANoteIsFoundAsSoonAsItIsApplied(t *testing.T) {
	x := open(t, t.TempDir())
	billing := note(1, "We chose Postgres for billing")
	other := note(2, "The mobile team prefers Kotlin")
	apply(t, x, "team", billing, other)
	wantHits(t, ask(t, x, "which database did we choose for the billing service and why"), billing)
	wantHits(t, ask(t, x, "kotl"), other)
	wantHits(t, ask(t, x, "reactor"))
}

func TestAnIndexRemembersAcrossOpenings(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	d := note(1, "rotate the signing key every quarter")
	mark := search.Mark{Epoch: 7, Commit: [20]byte{1, 2}, Tree: [20]byte{3}, Events: 1}
	if err := x.Apply(t.Context(), search.Batch{Space: "team", Put: []search.Doc{d}, Mark: mark}); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir)
	wantHits(t, ask(t, x, "signing key"), d)
	got, ok, err := x.Mark("team")
	if err != nil || !ok || got != mark {
		t.Errorf("mark is %v, %v, %v; want %v", got, ok, err, mark)
	}
	if _, ok, err := x.Mark("personal"); ok || err != nil {
		t.Errorf("a space that was never applied has a mark (%v)", err)
	}
}

func TestASecondWriterIsTurnedAwayAtOnce(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	if _, err := search.Open(dir, search.Options{}); !errors.Is(err, search.ErrLocked) {
		t.Fatalf("second Open: %v, want ErrLocked", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestCallsAfterCloseSayClosed(t *testing.T) {
	x := open(t, t.TempDir())
	apply(t, x, "team", note(1, "anything"))
	for range 2 {
		if err := x.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	_, askErr := x.Ask(t.Context(), search.Query{Text: "anything"})
	_, _, markErr := x.Mark("team")
	_, countErr := x.Count("team")
	for call, err := range map[string]error{
		"Ask":       askErr,
		"Mark":      markErr,
		"Count":     countErr,
		"Apply":     x.Apply(t.Context(), search.Batch{Space: "team"}),
		"DropSpace": x.DropSpace(t.Context(), "team"),
		"IDs":       x.IDs("team", func(event.ID) error { return nil }),
	} {
		if !errors.Is(err, search.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", call, err)
		}
	}
}

func TestSpacesLieSideBySide(t *testing.T) {
	x := open(t, t.TempDir())
	mine, ours := note(1, "redis timeout"), note(2, "redis timeout")
	apply(t, x, "personal", mine)
	apply(t, x, "team", ours)
	wantHits(t, ask(t, x, "redis"), ours, mine)
	wantHits(t, askWith(t, x, search.Query{Text: "redis", Spaces: []string{"personal"}}), mine)
	if err := x.DropSpace(t.Context(), "team"); err != nil {
		t.Fatal(err)
	}
	wantHits(t, ask(t, x, "redis"), mine)
	if n, err := x.Count("team"); n != 0 || err != nil {
		t.Errorf("a dropped space counts %d (%v)", n, err)
	}
	if _, ok, err := x.Mark("team"); ok || err != nil {
		t.Errorf("a dropped space has a mark (%v)", err)
	}
}

func TestAReaderNeedsNoLock(t *testing.T) {
	dir := t.TempDir()
	if _, err := search.OpenReader(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("OpenReader without an index: %v, want fs.ErrNotExist", err)
	}
	x := open(t, dir)
	d := note(1, "deploy on fridays")
	apply(t, x, "team", d)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	r, err := search.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	wantHits(t, ask(t, r, "friday"), d)
}

func TestARebuildReplacesTheIndexUnderAnOpenOne(t *testing.T) {
	dir := t.TempDir()
	former := open(t, dir)
	old, fresh := note(1, "the former text"), note(2, "the rebuilt text")
	apply(t, former, "team", old)
	err := search.Rebuild(t.Context(), dir, func(put func(search.Batch) error) error {
		wantHits(t, ask(t, former, "text"), old)
		return put(search.Batch{Space: "team", Put: []search.Doc{fresh}, Mark: search.Mark{Events: 2}})
	})
	if err != nil {
		t.Fatal(err)
	}
	wantHits(t, ask(t, former, "text"), old)
	if err := former.Apply(t.Context(), search.Batch{Space: "team"}); !errors.Is(err, search.ErrReplaced) {
		t.Errorf("Apply to a replaced index: %v, want ErrReplaced", err)
	}
	if err := former.Close(); err != nil {
		t.Fatal(err)
	}
	x := open(t, dir)
	wantHits(t, ask(t, x, "text"), fresh)
	if m, ok, err := x.Mark("team"); err != nil || !ok || m.Events != 2 {
		t.Errorf("the mark after a rebuild is %v, %v, %v", m, ok, err)
	}
}

// A rebuild replays a log, in which a note may come again much later, or go and
// come back.
func TestARebuildTakesTheLastOfEachNote(t *testing.T) {
	dir := t.TempDir()
	with := func(d search.Doc, body string) search.Doc { d.Body = body; return d }
	var others []search.Doc
	for n := range 1200 {
		others = append(others, note(1000+n, fmt.Sprint("another granite ", n)))
	}
	first, goes, away := note(1, "the first pond"), note(2, "a pond that goes"), note(3, "a pond that stays away")
	last, back := with(first, "the third granite pond"), with(goes, "back at the granite pond")
	rebuild(t, dir, []search.Batch{
		{Space: "team", Put: []search.Doc{first, goes, away}},
		{Space: "team", Put: others[:700]},
		{Space: "team", Put: []search.Doc{with(first, "the second pond"), with(first, "the second pond again")}, Delete: []event.ID{goes.ID, away.ID}},
		{Space: "team", Put: others[500:]},
		{Space: "team", Put: []search.Doc{last, back}, Mark: search.Mark{Events: 7}},
	})
	x := open(t, dir)
	if n, err := x.Count("team"); err != nil || n != 1202 {
		t.Errorf("%d notes (%v), want 1202", n, err)
	}
	wantHits(t, ask(t, x, "pond"), back, last)
	wantHits(t, ask(t, x, `"granite pond"`), back, last)
	wantHits(t, ask(t, x, "second"))
	if removed, err := x.HasRemoved(); err != nil || removed {
		t.Errorf("it holds what was removed: %v, %v", removed, err)
	}
}

func TestAFailedRebuildChangesNothing(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	d := note(1, "still here")
	apply(t, x, "team", d)
	broken := errors.New("the log cannot be read")
	err := search.Rebuild(t.Context(), dir, func(put func(search.Batch) error) error {
		return errors.Join(put(search.Batch{Space: "team", Put: []search.Doc{note(2, "half")}}), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("Rebuild: %v, want the error of its source", err)
	}
	apply(t, x, "team", note(3, "and goes on"))
	wantHits(t, ask(t, x, "still"), d)
}

// inFiles says whether any file of the index holds the bytes.
func inFiles(t *testing.T, dir, bytes string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "gen-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), bytes) {
			return true
		}
	}
	return false
}

func TestWhatIsDeletedLeavesTheDiskWithCompact(t *testing.T) {
	for _, others := range []int{0, 1, 2000} {
		dir := t.TempDir()
		x := open(t, dir)
		gone := note(1, "the kqzjxvwqpf of a customer")
		var docs []search.Doc
		for n := range others {
			docs = append(docs, note(n+2, fmt.Sprint("other note ", n)))
		}
		apply(t, x, "team", append(docs, gone)...)
		if err := x.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !inFiles(t, dir, "kqzjxvwqpf") {
			t.Fatal("the text is not in the files to begin with: the test shows nothing")
		}
		if err := x.Apply(t.Context(), search.Batch{Space: "team", Delete: []event.ID{gone.ID}}); err != nil {
			t.Fatal(err)
		}
		if err := x.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if inFiles(t, dir, "kqzjxvwqpf") {
			t.Errorf("with %d other notes the text of a deleted note is still on disk", others)
		}
		if n, err := x.Count("team"); err != nil || n != others {
			t.Errorf("%d notes are left (%v), want %d", n, err, others)
		}
	}
}
