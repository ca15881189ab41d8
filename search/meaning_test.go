package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// vehicles knows what cars and food have in common.
const vehicles = "car 1 0 0.1\nautomobile 0.98 0 0.12\nengine 0.9 0.1 0\nbread 0 1 0.1\nbutter 0.1 0.95 0\nrepair 0.5 0.5 0.5\nnotes 0.4 0.5 0.6\n"

func words(t testing.TB, file string) *embed.Words {
	t.Helper()
	w, err := embed.ReadWords(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func placed(d search.Doc, by embed.Embedder) search.Doc {
	d.Meaning = by.Embed(d.Title + "\n" + d.Body)
	return d
}

func TestAmongNotesThatHoldSomeOfTheWordsTheOneThatMeansTheSameIsFirst(t *testing.T) {
	t.Parallel()
	by := words(t, vehicles)
	x := open(t, t.TempDir())
	car, food := note(1, "repair of the engine"), note(2, "repair of the bread")
	other := note(3, "nothing of the kind: butter")
	apply(t, x, "team", placed(car, by), placed(food, by), placed(other, by))
	q := search.Query{Text: "automobile repair"}
	wantHits(t, askWith(t, x, q), food, car) // the newer one
	q.Meaning = by.Embed(q.Text)
	wantHits(t, askWith(t, x, q), car, food)
	q.Meaning = words(t, vehicles+"plane 0.7 0 0.7\n").Embed(q.Text) // of another file
	wantHits(t, askWith(t, x, q), food, car)
	q = search.Query{Text: "automobile car", Meaning: by.Embed("automobile car")}
	wantHits(t, askWith(t, x, q)) // near alone is not enough
}

func TestANoteWithoutAVectorIsRankedByItsWords(t *testing.T) {
	t.Parallel()
	by := words(t, vehicles)
	x := open(t, t.TempDir())
	plain, both := note(1, "repair"), note(2, "repair notes for the bread, at some length")
	apply(t, x, "team", plain, placed(both, by))
	q := search.Query{Text: "repair notes", Meaning: by.Embed("repair notes")}
	wantHits(t, askWith(t, x, q), both, plain)
}

func TestTheVectorsOfNotesCanBeRead(t *testing.T) {
	t.Parallel()
	by := words(t, vehicles)
	dir := t.TempDir()
	x := open(t, dir)
	with, without, gone := placed(note(1, "engine"), by), note(2, "bread"), placed(note(3, "butter"), by)
	apply(t, x, "team", with, without, gone)
	if err := x.Apply(t.Context(), search.Batch{Space: "team", Delete: []event.ID{gone.ID}}); err != nil {
		t.Fatal(err)
	}
	got := map[event.ID]string{}
	read := func(id event.ID, v embed.Vector) error { got[id] = string(v); return nil }
	if err := x.Meanings("team", read); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[with.ID] != string(with.Meaning) || got[without.ID] != "" {
		t.Errorf("read %q", got)
	}
	if err := x.Meanings("personal", func(event.ID, embed.Vector) error { return context.Canceled }); err != nil {
		t.Errorf("of a space without notes: %v", err)
	}
	if err := x.Meanings("team", func(event.ID, embed.Vector) error { return context.Canceled }); err != context.Canceled {
		t.Errorf("the error of the reader became %v", err)
	}
}

// The vector leaves the disk with its note.
func TestTheVectorOfARemovedNoteIsGoneFromTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := open(t, dir)
	d := note(1, "kept apart")
	d.Meaning = embed.Vector("\x01\x02stamp!" + strings.Repeat("Qz7\x91", 30))
	apply(t, x, "team", d, note(2, "another"))
	compact(t, x)
	if !holds(t, dir, "Qz7\x91") {
		t.Fatal("the vector is not to be found where it should be") // or the test would prove nothing
	}
	if err := x.Apply(t.Context(), search.Batch{Space: "team", Delete: []event.ID{d.ID}}); err != nil {
		t.Fatal(err)
	}
	compact(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if holds(t, dir, "Qz7\x91") {
		t.Error("the vector is there still")
	}
}

func compact(t *testing.T, x *search.Index) {
	t.Helper()
	if err := x.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found = found || strings.Contains(string(b), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var meantWords = strings.Fields("lock cache redis timeout deploy error postgres engine bread butter 文件 file-lock")

// Whatever the vectors say, the same notes are found, and one that holds all
// the words of a question stays before every one that does not.
func TestMeaningOnlyReordersAmongEquals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		by := words(t, randomPlaces(rapid.Uint64().Draw(rt, "seed")))
		x, err := search.Open(t.TempDir(), search.Unsynced(search.Options{FS: disk.OS}))
		if err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		text := func(label string, least int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(meantWords), least, 6).Draw(rt, label), " ")
		}
		var docs []search.Doc
		for i := range rapid.IntRange(1, 30).Draw(rt, "notes") {
			d := note(i, text("body", 0))
			if rapid.IntRange(0, 4).Draw(rt, "placed") > 0 {
				d = placed(d, by)
			}
			docs = append(docs, d)
		}
		if err := x.Apply(t.Context(), search.Batch{Space: "team", Put: docs}); err != nil {
			rt.Fatal(err)
		}
		question := text("question", 1)
		plain := search.Query{Text: question, Limit: 40}
		meant := plain
		meant.Meaning = by.Embed(question)
		checkReordered(rt, x, question, docs, plain, meant)
	})
}

func checkReordered(rt *rapid.T, x *search.Index, question string, docs []search.Doc, plain, meant search.Query) {
	without, err := x.Ask(context.Background(), plain)
	if err != nil {
		rt.Fatal(err)
	}
	with, err := x.Ask(context.Background(), meant)
	if err != nil {
		rt.Fatal(err)
	}
	if a, b := idsOf(without), idsOf(with); !slices.Equal(a, b) {
		rt.Fatalf("%q found %v, and %v by meaning", question, a, b)
	}
	missed := false
	for i, h := range with.Hits {
		if i > 0 && h.Score > with.Hits[i-1].Score {
			rt.Fatalf("%q: the score rises at hit %d: %+v", question, i, with.Hits)
		}
		all := holdsAllOf(docs, h.ID, question)
		if all && missed {
			rt.Fatalf("%q: %s holds all the words and comes after one that does not", question, h.ID)
		}
		missed = missed || !all
	}
}

func idsOf(r search.Result) []event.ID {
	var ids []event.ID
	for _, h := range r.Hits {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

func holdsAllOf(docs []search.Doc, id event.ID, question string) bool {
	i := slices.IndexFunc(docs, func(d search.Doc) bool { return d.ID == id })
	for _, w := range strings.Fields(question) {
		if !slices.Contains(strings.Fields(docs[i].Body), w) && !(w == "lock" && strings.Contains(docs[i].Body, "file-lock")) {
			return false
		}
	}
	return true
}

func randomPlaces(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for _, w := range meantWords {
		fmt.Fprintf(&b, "%s %.3f %.3f %.3f\n", w, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
	}
	return b.String()
}
