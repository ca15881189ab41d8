package mcptools_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/agent/api"
	"cairn/agent/mcptools"
)

func TestAWriteIsFinishedThoughItWasCanceled(t *testing.T) {
	t.Parallel()
	begun, canceled := make(chan struct{}), make(chan struct{})
	m := &memory{hook: func(context.Context) { close(begun); <-canceled }}
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, hello+callLine("1", "remember", args{"text": "x"}))
		<-begun
		// The second of two lines is read once the first has been dealt with.
		io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n"+`{"jsonrpc":"2.0","method":"x"}`+"\n")
		close(canceled)
		w.Close()
	}()
	got := send(t, options(m), r)
	if len(got.lines) != 2 || got.lines[1].Result.IsError || len(m.events) != 1 {
		t.Errorf("%s, %d notes", got.ids(), len(m.events))
	}
}

func TestACanceledSearchEnds(t *testing.T) {
	t.Parallel()
	m := &memory{hook: func(ctx context.Context) { <-ctx.Done() }}
	r, w := io.Pipe()
	begun := make(chan struct{})
	opts := options(m)
	opts.Connect = func(context.Context) (api.Agent, error) { close(begun); return m, nil }
	go func() {
		io.WriteString(w, hello+callLine("1", "recall", args{"query": "x"}))
		<-begun
		io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
		w.Close()
	}()
	if got := send(t, opts, r); len(got.lines) != 2 || !got.lines[1].Result.IsError {
		t.Errorf("%s", got.ids())
	}
}

func TestTheEndOfTheInputIsTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if got := send(t, options(&memory{}), strings.NewReader(hello+callLine("1", "ping", nil))); len(got.lines) != 2 || got.err != nil {
			t.Errorf("%s, %v", got.ids(), got.err)
		}
		if time.Since(start) > 0 { // no time passes here unless somebody sleeps
			t.Error("an idle server waited for something")
		}
	})
}

func TestWhatNeverEndsIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &memory{hook: func(context.Context) { <-release }}
		got := send(t, options(m), strings.NewReader(hello+callLine("1", "remember", args{"text": "x"})+callLine("2", "remember", args{"text": "y"})))
		if e, ok := errors.AsType[*mcptools.UnansweredError](got.err); !ok || e.Requests != 2 || len(got.lines) != 1 {
			t.Errorf("%s, %v", got.ids(), got.err)
		}
		close(release)
		synctest.Wait()
	})
}

func TestToldToEndItEndsWithoutAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		saving := make(chan struct{})
		m := &memory{hook: func(context.Context) { close(saving); <-release }}
		in, w := io.Pipe()
		var out bytes.Buffer
		opts := options(m)
		opts.In, opts.Out = in, &out
		served := make(chan error)
		go func() { served <- mcptools.Serve(ctx, opts) }()
		io.WriteString(w, hello+callLine("1", "remember", args{"text": "x"}))
		<-saving
		cancel()
		synctest.Wait()
		close(release) // a write that is under way is still answered
		if err := <-served; err != nil {
			t.Error(err)
		}
		if lines := protocolLines(t, out.Bytes()); len(lines) != 2 || lines[1].Result.IsError {
			t.Errorf("wrote %s", out.String())
		}
		w.Close()
	})
}

func TestAClientThatDoesNotListenEndsTheServer(t *testing.T) {
	t.Parallel()
	in, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, hello)
	opts := options(&memory{})
	opts.In, opts.Out = in, deaf{}
	if err := mcptools.Serve(t.Context(), opts); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	opts.In, opts.Out = io.MultiReader(strings.NewReader(hello), broken{}), io.Discard
	if err := mcptools.Serve(t.Context(), opts); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
