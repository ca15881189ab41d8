package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
)

// crowd is an index of so many notes that say quartz, and of one that says
// quartzite only, in a project of its own, with its oracle.
func crowd(t *testing.T, n int) (*Index, *oracle) {
	t.Helper()
	x, err := Open(t.TempDir(), Options{FS: disktest.Unsynced(disk.OS)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	words := strings.Fields("lock lockfile locker cache cached fast fastapi")
	b := Batch{Space: "team"}
	for i := range n + 1 {
		text := "quartz " + words[i%len(words)] + " " + words[i*i%5]
		project := "common"
		if i == n {
			text, project = "quartzite of a lockfile", "other"
		}
		at := time.UnixMilli(1_750_000_000_000 + int64(i))
		b.Put = append(b.Put, Doc{ID: event.ID(fmt.Sprintf("%026d", i)), Title: text, Body: strings.Repeat("x ", i%7), Project: project, Recorded: at})
	}
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	o := newOracle()
	o.apply(b)
	return x, o
}

// A word that many notes hold stands for itself, unless nothing else is left,
// somebody is typing, or it ends in a star.
func TestACommonWordIsNotTakenForTheStartOfOthers(t *testing.T) {
	t.Parallel()
	few, _ := crowd(t, finishedNotes-1)
	many, _ := crowd(t, finishedNotes)
	for _, c := range []struct {
		x     *Index
		q     Query
		total int
	}{
		{few, Query{Text: "quartz"}, finishedNotes},
		{many, Query{Text: "quartz"}, finishedNotes},
		{many, Query{Text: "quartzs"}, finishedNotes},
		{many, Query{Text: "quartz*"}, finishedNotes + 1},
		{many, Query{Text: "quartz", Prefix: true}, finishedNotes + 1},
		{many, Query{Text: "quartz project:other"}, 1},
		{many, Query{Text: "quartz", Filter: Filter{Project: "other"}}, 1},
		{many, Query{Text: "quartz", Keep: func(id event.ID) bool { return id == event.ID(fmt.Sprintf("%026d", finishedNotes)) }}, finishedNotes + 1},
	} {
		got, err := c.x.Ask(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		if got.Total != c.total || len(got.Hits) != min(c.total, DefaultLimit) && c.q.Keep == nil || len(got.Hits) == 0 {
			t.Errorf("ask %+v: %d hits of %d, want %d", c.q, len(got.Hits), got.Total, c.total)
		}
	}
}

// With words that are finished, too, the ranking is that of an exhaustive
// evaluation.
func TestRankingWithFinishedWordsIsExhaustive(t *testing.T) {
	t.Parallel()
	x, o := crowd(t, 2*finishedNotes)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("quartz quartzi lock lockf cache fast of gondola project:other")), 1, 3).Draw(t, "words")
		q := Query{Text: strings.Join(words, " "), Limit: rapid.SampledFrom([]int{3, 300}).Draw(t, "limit"), Prefix: rapid.Bool().Draw(t, "prefix")}
		got, err := x.Ask(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := o.ask(q)
		if !slices.EqualFunc(got.Hits, want, func(a, b Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
			t.Fatalf("ask %+v:\nfound %v\nwant  %v", q, got.Hits, want)
		}
	})
}
