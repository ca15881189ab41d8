package search

import (
	"slices"
	"testing"

	"cairn/internal/corpus"
	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
)

// Of many notes most lists are left unread when few hits are wanted, and
// hardly any when many are. The first ones are the same.
func TestTheFirstHitsAreThoseOfALongList(t *testing.T) {
	t.Parallel()
	notes := corpus.Notes(5000)
	x, err := Open(t.TempDir(), Options{FS: disktest.Unsynced(disk.OS)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for part := range slices.Chunk(notes, 2500) {
		b := Batch{Space: "team"}
		for _, n := range part {
			b.Put = append(b.Put, Doc{ID: event.NewID(n.At), Title: n.Title, Body: n.Text, Tags: n.Tags, Project: n.Project, Recorded: n.At})
		}
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, class := range corpus.Classes() {
		for i, q := range corpus.Queries(notes, class, 40, 3) {
			few, long := Query{Text: q.Text(), Limit: 10, Prefix: i%2 == 0}, Query{Text: q.Text(), Limit: MaxLimit, Prefix: i%2 == 0}
			got, err := x.Ask(t.Context(), few)
			if err != nil {
				t.Fatal(err)
			}
			all, err := x.Ask(t.Context(), long)
			if err != nil {
				t.Fatal(err)
			}
			want := all.Hits[:min(len(all.Hits), few.Limit)]
			if !slices.EqualFunc(got.Hits, want, func(a, b Hit) bool { return a.ID == b.ID }) {
				t.Errorf("%s: %+v:\nfound %v\nwant  %v", class, few, got.Hits, want)
			}
		}
	}
}
