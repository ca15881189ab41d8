package localapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/event"
	"cairn/internal/problem"
)

func TestAnImportOfAnySizeIsOneImport(t *testing.T) {
	t.Parallel()
	far := &fake{}
	c := dial(t, serve(t, far, localapi.Options{}))
	drafts := make([]api.Draft, 24)
	for i := range drafts {
		drafts[i] = api.Draft{Space: fmt.Sprint("s", i), Payload: &event.Observe{Content: strings.Repeat("x", event.MaxText)}}
	}
	results, err := c.Import(t.Context(), drafts)
	if err != nil || len(results) != len(drafts) {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		if r.Receipt.Space != drafts[i].Space || r.Problem != nil {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if len(far.calls) != 1 {
		t.Errorf("the agent was called %d times", len(far.calls))
	}
}

func TestWhatCannotBeSentIsRefusedAtItsPlace(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &fake{}, localapi.Options{}))
	note := func(space, text string) api.Draft {
		return api.Draft{Space: space, Payload: &event.Observe{Content: text}}
	}
	results, err := c.Import(t.Context(), []api.Draft{
		note("first", "a"), note("", "\xff"), note("third", "b"), note("", strings.Repeat("x", 17<<20)), note("fifth", "c"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		if r.Problem != nil {
			got = append(got, string(r.Problem.Code))
			continue
		}
		got = append(got, r.Receipt.Space)
	}
	want := []string{"first", string(problem.NotUTF8), "third", string(problem.TooBig), "fifth"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAnExportEndsWhenItsReaderHasEnough(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	far := &endless{ended: ended}
	c := dial(t, serve(t, far, localapi.Options{}))
	enough := errors.New("enough")
	n := 0
	err := c.Export(t.Context(), "", func([]byte) error {
		if n++; n == 10 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the agent believes that all of it was read")
	}
}

// endless exports for ever.
type endless struct {
	fake
	ended chan error
}

func (e *endless) Export(ctx context.Context, _ string, fn func([]byte) error) error {
	for {
		err := fn(bytes.Repeat([]byte("x"), 10_000))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			e.ended <- err
			return err
		}
	}
}

func TestAnExportTellsHowItFailedAfterWhatItGave(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &fake{items: [][]byte{[]byte("a"), []byte("b")}, err: &aProblem}, localapi.Options{}))
	var got []string
	err := c.Export(t.Context(), "", func(b []byte) error { got = append(got, string(b)); return nil })
	if p := problem.Of(err); p == nil || *p != aProblem || strings.Join(got, "") != "ab" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAnExportThatWasCutOffDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	far := &fake{items: [][]byte{bytes.Repeat([]byte("x"), 100_000)}}
	c := dial(t, serve(t, &broken{far}, localapi.Options{}))
	err := c.Export(t.Context(), "", func([]byte) error { return nil })
	if !errors.Is(err, localapi.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
}

// broken panics once it has exported something.
type broken struct{ *fake }

func (b *broken) Export(ctx context.Context, space string, fn func([]byte) error) error {
	if err := b.fake.Export(ctx, space, fn); err != nil {
		return err
	}
	panic("half way")
}
