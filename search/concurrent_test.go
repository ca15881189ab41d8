package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// Writers, readers, a compaction and a Close meet. Every search sees whole
// steps: the notes that are found are as many as the mark says.
func TestSearchesSeeWholeStepsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	const steps = 60
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() { searchUntil(t, x, stop) })
	}
	wg.Go(func() {
		if err := x.Compact(t.Context()); err != nil {
			t.Errorf("Compact: %v", err)
		}
	})
	for step := range steps {
		b := search.Batch{Space: "team", Mark: search.Mark{Events: step + 1}}
		for i := range notesPerStep {
			b.Put = append(b.Put, search.Doc{ID: stepID(step, i), Title: "shared words"})
		}
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if n, err := x.Count("team"); err != nil || n != steps*notesPerStep {
		t.Errorf("%d notes (%v), want %d", n, err, steps*notesPerStep)
	}
}

func searchUntil(t *testing.T, x *search.Index, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		r, err := x.Ask(context.Background(), search.Query{Text: "shared words", Limit: search.MaxLimit})
		if err != nil {
			t.Errorf("Ask: %v", err)
			return
		}
		if r.Total%notesPerStep != 0 || len(r.Hits) != r.Total {
			t.Errorf("a search sees part of a step: %d hits of %d", len(r.Hits), r.Total)
		}
	}
}

// What is shown of a note stays as it is for as long as it is shown, whatever
// others read meanwhile.
func TestAMeaningIsNotOverwrittenWhileItIsLookedAt(t *testing.T) {
	meanings := func(fill byte) *search.Index {
		x := open(t, t.TempDir())
		d := note(1, "a text of some words")
		d.Meaning = bytes.Repeat([]byte{fill}, 72)
		apply(t, x, "team", d)
		return x
	}
	one, other := meanings(1), meanings(2)
	looked := false
	err := one.Meanings("team", func(_ event.ID, v embed.Vector) error {
		looked = true
		done := make(chan error)
		for range 4 {
			go func() { done <- other.Meanings("team", func(event.ID, embed.Vector) error { return nil }) }()
			if err := <-done; err != nil {
				return err
			}
		}
		if !bytes.Equal(v, bytes.Repeat([]byte{1}, 72)) {
			t.Errorf("the meaning has become %x", v)
		}
		return nil
	})
	if err != nil || !looked {
		t.Fatalf("Meanings: %v, looked: %v", err, looked)
	}
}

func TestCloseMeetsEverything(t *testing.T) {
	t.Parallel()
	for range 10 {
		x := open(t, t.TempDir())
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for n := 0; ; n++ {
					err := x.Apply(context.Background(), search.Batch{Space: fmt.Sprint("space", i), Put: []search.Doc{note(n, "some words")}})
					if err == nil {
						_, err = x.Ask(context.Background(), search.Query{Text: "words"})
					}
					if errors.Is(err, search.ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("while it is closed: %v", err)
						return
					}
				}
			})
		}
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wg.Wait()
	}
}

func TestABatchThatMakesNoSenseIsRefused(t *testing.T) {
	x := open(t, t.TempDir())
	ok := note(1, "fine")
	other := ok
	other.Space = "elsewhere"
	for name, b := range map[string]search.Batch{
		"no space":       {Put: []search.Doc{ok}},
		"a garbled name": {Space: "a\x00b", Put: []search.Doc{ok}},
		"no id":          {Space: "team", Put: []search.Doc{{Body: "x"}}},
		"a garbled id":   {Space: "team", Put: []search.Doc{{ID: "a\x00b"}}},
		"another space":  {Space: "team", Put: []search.Doc{ok, other}},
	} {
		if err := x.Apply(t.Context(), b); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	wantHits(t, ask(t, x, "fine"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Apply(ctx, search.Batch{Space: "team", Put: []search.Doc{ok}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply after the end of its context: %v", err)
	}
	wantHits(t, ask(t, x, "fine"))
	if _, known, err := x.Mark("team"); known || err != nil {
		t.Errorf("a refused batch left a mark (%v)", err)
	}
}

func TestIDsEndsWithTheErrorOfItsFunction(t *testing.T) {
	x := open(t, t.TempDir())
	apply(t, x, "team", note(1, "one"), note(2, "two"))
	enough := errors.New("enough")
	calls := 0
	err := x.IDs("team", func(event.ID) error {
		calls++
		return enough
	})
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("IDs: %v after %d calls", err, calls)
	}
}
