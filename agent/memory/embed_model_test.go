//go:build onnx

package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"cairn/internal/event"
	"cairn/search/embed"
	"cairn/search/embed/modeltest"
)

// thinking sets a model that knows the words of vehicles.
func (h *home) thinking(repair ...float32) {
	h.t.Helper()
	dir := modeltest.Folder(h.t, map[string][]float32{
		"car": {1, 0, 0.1}, "automobile": {0.98, 0, 0.12}, "engine": {0.9, 0.1, 0}, "bread": {0, 1, 0.1}, "repair": repair,
	})
	h.opt.Embedder = embed.NewSource("onnx:" + dir)
	if _, err := h.opt.Embedder.Wait(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// soonAsked asks until the answer is the one wanted: nobody waits for the
// vector of a note.
func (h *home) soonAsked(text string, want ...event.ID) {
	h.t.Helper()
	var got []event.ID
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = h.asked(text); slices.Equal(got, want) {
			return
		}
	}
	h.t.Errorf("%q never found %v, but %v", text, want, got)
}

func TestAModelPlacesWhatIsSavedInTheBackground(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	before := h.note("repair of an engine, before")
	h.close()
	h.thinking(0.5, 0.5, 0.5)
	h.open()
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	h.note("a text of which nothing is known")
	if got := h.asked("automobile repair"); len(got) != 3 {
		t.Errorf("at once it found %v", got)
	}
	h.soonAsked("automobile repair", car, before, food)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if n, err := h.Embedding(t.Context()); err == nil && n.Missing == 0 && n.Unknown == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("some notes never get a vector")
		}
	}
	h.isLevel()
}

func TestEmbedTakesOverFromTheBackground(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	gone := h.note("repair of what is secret")
	h.redact(gone)
	h.close()
	h.thinking(0.5, 0.5, 0.5)
	h.open()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := h.Embed(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if got := h.embed(); got.Notes != 2 || got.Unknown != 0 {
		t.Errorf("it made %+v", got)
	}
	for range 2 {
		if got := h.embed(); got.Made != 0 {
			t.Errorf("once more it made %+v", got)
		}
		h.soonAsked("automobile repair", car, food) // the question's own vector may be late
		h.restart()
	}
}

func TestARebuiltIndexKeepsWhatAModelHasMade(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.close()
	h.thinking(0.5, 0.5, 0.5)
	h.open()
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	h.embed()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.embed(); got.Made != 0 || got.Notes != 2 {
		t.Errorf("after a rebuild it made %+v", got)
	}
	h.soonAsked("automobile repair", car, food)
	h.close()
	h.thinking(0.4, 0.5, 0.5) // another model
	h.open()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.embed()
	if n, err := h.Embedding(t.Context()); err != nil || n.Missing != 0 || n.Notes != 2 {
		t.Errorf("with another model: %+v, %v", n, err)
	}
	h.soonAsked("automobile repair", car, food)
}
