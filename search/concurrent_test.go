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

// Questions of every kind, put to a small and a large index at once, share the room
// that they work in: each is answered as if it were alone.
func TestQuestionsAtOnceAreAnsweredAsOneByOne(t *testing.T) {
	t.Parallel()
	texts := []string{"redis cache timeout in the file-lock", "the cache of 文件锁 and a lock", "useEffect of the timeout, locked", "deploy the cache lock of redis"}
	var indexes []*search.Index
	for _, notes := range []int{9, 1500} {
		x := open(t, t.TempDir())
		for from := 0; from < notes; from += notes / 3 {
			b := search.Batch{Space: "team"}
			for n := from; n < from+notes/3; n++ {
				d := note(n, fmt.Sprintf("%s number%d", texts[n%len(texts)], n%37))
				d.Meaning = bytes.Repeat([]byte{byte(n)}, 72)
				b.Put = append(b.Put, d)
			}
			b.Delete = append(b.Delete, note(from/2, "").ID)
			applyAll(t, x, []search.Batch{b})
		}
		indexes = append(indexes, x)
	}
	var questions []search.Query
	for _, text := range []string{
		"cache", "cach", "redis timeout", `"redis cache"`, `"the cache"`, `title:"redis cache"`, "文件", "lokc timeuot", "redis OR useEffect",
		"cache -redis", "kind:note", "number12 cache lock", "lock AND NOT (redis OR deploy)", "what is the timeout of the file lock",
	} {
		questions = append(questions, search.Query{Text: text, Limit: 20}, search.Query{Text: text, Limit: 500, Prefix: true},
			search.Query{Text: text, Meaning: bytes.Repeat([]byte{7}, 72)})
	}
	answer := func(x *search.Index, q search.Query) string {
		r, err := x.Ask(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", q.Text, err)
		}
		return fmt.Sprintf("%+v", r)
	}
	want := map[int]string{}
	number := func(index, question int) int { return question*len(indexes) + index }
	for i, x := range indexes {
		for k, q := range questions {
			want[number(i, k)] = answer(x, q)
		}
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := range 6 * len(questions) {
				i, k := (n+worker)%len(indexes), (n*(worker+1)+worker)%len(questions)
				if got := answer(indexes[i], questions[k]); got != want[number(i, k)] {
					t.Errorf("%+v: %s\nwant %s", questions[k], got, want[number(i, k)])
				}
			}
		})
	}
	wg.Wait()
}
