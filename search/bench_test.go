package search_test

import (
	"path/filepath"
	"slices"
	"testing"

	"cairn/internal/corpus"
	"cairn/internal/event"
	"cairn/search"
)

// The notes of the benchmarks; the last of them come in small steps.
const (
	benchNotes = 100_000
	benchLive  = 300
	benchStep  = 10
)

func benchIndex(b *testing.B, dir string, notes []corpus.Note) *search.Index {
	b.Helper()
	bulk, live := notes[:len(notes)-benchLive], notes[len(notes)-benchLive:]
	err := search.Rebuild(b.Context(), dir, func(put func(search.Batch) error) error {
		for part := range slices.Chunk(bulk, 1000) {
			if err := put(benchBatch(part)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	x, err := search.Open(dir, search.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := x.Close(); err != nil {
			b.Error(err)
		}
	})
	for part := range slices.Chunk(live, benchStep) {
		if err := x.Apply(b.Context(), benchBatch(part)); err != nil {
			b.Fatal(err)
		}
	}
	return x
}

func benchBatch(notes []corpus.Note) search.Batch {
	b := search.Batch{Space: "team"}
	for _, n := range notes {
		b.Put = append(b.Put, search.Doc{
			ID: event.NewID(n.At), Title: n.Title, Body: n.Text, Tags: n.Tags,
			Kind: string(event.KindObserve), Project: n.Project, Recorded: n.At,
		})
	}
	return b
}

// BenchmarkAsk asks a hundred questions of each class in turns, of 100,000
// notes in an index that also got some in small steps.
func BenchmarkAsk(b *testing.B) {
	notes := corpus.Notes(benchNotes)
	x := benchIndex(b, filepath.Join(b.TempDir(), "index"), notes)
	for _, class := range corpus.Classes() {
		queries := corpus.Queries(notes, class, 100, 2)
		b.Run(string(class), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := x.Ask(b.Context(), search.Query{Text: queries[i%len(queries)].Text(), Limit: 5}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAskFirst asks each question of a class once of a reader that has not
// seen it: what was read for one question is of no use for another but by chance.
func BenchmarkAskFirst(b *testing.B) {
	notes := corpus.Notes(benchNotes)
	dir := filepath.Join(b.TempDir(), "index")
	if err := benchIndex(b, dir, notes).Close(); err != nil {
		b.Fatal(err)
	}
	for _, class := range corpus.Classes() {
		queries := corpus.Queries(notes, class, 1000, 2)
		b.Run(string(class), func(b *testing.B) {
			var r *search.Reader
			for i := 0; b.Loop(); i++ {
				if i%len(queries) == 0 {
					b.StopTimer()
					r = anew(b, dir, r)
					b.StartTimer()
				}
				if _, err := r.Ask(b.Context(), search.Query{Text: queries[i%len(queries)].Text(), Limit: 5}); err != nil {
					b.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// anew closes a reader and opens another, which has answered something.
func anew(b *testing.B, dir string, former *search.Reader) *search.Reader {
	b.Helper()
	if former != nil {
		if err := former.Close(); err != nil {
			b.Fatal(err)
		}
	}
	r, err := search.OpenReader(dir)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Ask(b.Context(), search.Query{Text: "nothing like it"}); err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkOpen opens the same index anew for each question, as a command does
// that finds no process to ask.
func BenchmarkOpen(b *testing.B) {
	notes := corpus.Notes(benchNotes)
	dir := filepath.Join(b.TempDir(), "index")
	if err := benchIndex(b, dir, notes).Close(); err != nil {
		b.Fatal(err)
	}
	var queries []corpus.Query
	for _, class := range corpus.Classes() {
		queries = append(queries, corpus.Queries(notes, class, 10, 2)...)
	}
	for i := 0; b.Loop(); i++ {
		r, err := search.OpenReader(dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Ask(b.Context(), search.Query{Text: queries[i%len(queries)].Text(), Limit: 5}); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
