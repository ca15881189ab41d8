package memory_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/search/embed"
)

const vehicles = "car 1 0 0.1\nautomobile 0.98 0 0.12\nengine 0.9 0.1 0\nbread 0 1 0.1\nrepair 0.5 0.5 0.5\n"

// embedding sets a file of word vectors, made of words.
func (h *home) embedding(words string) {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "words.txt")
	if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.opt.Embedder = embed.NewSource("words:" + path)
	if _, err := h.opt.Embedder.Wait(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) embed() api.Embedded {
	h.t.Helper()
	out, err := h.Embed(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *home) asked(text string) (ids []event.ID) {
	h.t.Helper()
	a, err := h.Ask(h.t.Context(), api.Query{Text: text})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, hit := range a.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

// isLevel fails unless the index has a row for each note and no other.
func (h *home) isLevel() {
	h.t.Helper()
	if d, err := h.Compare(h.t.Context(), "personal"); err != nil || len(d.Extra)+len(d.Missing) > 0 {
		h.t.Errorf("rows and notes differ: %+v, %v", d, err)
	}
}

// newEmbeddingHome is a memory with the word vectors of vehicles.
func newEmbeddingHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	h.close()
	h.embedding(vehicles)
	h.open()
	return h
}

func TestANoteGetsItsVectorWhenItIsSaved(t *testing.T) {
	t.Parallel()
	h := newEmbeddingHome(t)
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	h.note("a text of which nothing is known")
	if got := h.asked("automobile repair"); !slices.Equal(got, []event.ID{car, food}) {
		t.Errorf("found %v, want %s before %s", got, car, food)
	}
	if got := h.asked("automobile repair kind:observe"); !slices.Equal(got, []event.ID{car, food}) {
		t.Errorf("with filters it found %v, want %s before %s", got, car, food)
	}
	if got := h.asked("automobile"); len(got) != 0 {
		t.Errorf("what no note holds found %v", got)
	}
	if got := h.embed(); got.Made != 0 || got.Notes != 3 || got.Unknown != 1 {
		t.Errorf("after that it made %+v", got)
	}
}

func TestEmbedGivesFormerNotesTheirVectors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	gone := h.note("repair of what is secret")
	h.redact(gone)
	if got := h.asked("automobile repair"); !slices.Equal(got, []event.ID{food, car}) {
		t.Fatalf("without vectors it found %v", got)
	}
	h.close()
	h.embedding(vehicles)
	h.open()
	if got := h.asked("automobile repair"); !slices.Equal(got, []event.ID{food, car}) {
		t.Errorf("a question made vectors of notes: %v", got)
	}
	if got := h.embed(); got.Made != 2 || got.Notes != 2 {
		t.Errorf("it made %+v", got)
	}
	for range 2 {
		if got := h.asked("automobile repair"); !slices.Equal(got, []event.ID{car, food}) {
			t.Errorf("with vectors it found %v", got)
		}
		if got := h.embed(); got.Made != 0 {
			t.Errorf("once more it made %+v", got)
		}
		h.restart()
	}
	h.isLevel()
}

func TestVectorsOfAnotherFileAreMadeAnewAndNotMixed(t *testing.T) {
	t.Parallel()
	h := newEmbeddingHome(t)
	car, food := h.note("repair of the engine"), h.note("repair of the bread")
	h.asked("repair")
	h.close()
	h.embedding(strings.ReplaceAll(vehicles, "0.9 0.1 0", "0.1 0.9 0") + "plane 1 1 1\n")
	h.open()
	if got := h.asked("automobile repair"); !slices.Equal(got, []event.ID{food, car}) {
		t.Errorf("vectors of two files were compared: %v", got)
	}
	if got := h.embed(); got.Made != 2 {
		t.Errorf("it made %+v", got)
	}
}

func TestARebuiltIndexHasTheVectors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.note("repair of the engine")
	h.close()
	h.embedding(vehicles)
	h.open()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.embed(); got.Made != 0 || got.Notes != 1 || got.Unknown != 0 {
		t.Errorf("after a rebuild: %+v", got)
	}
}

func TestEmbedThatIsStoppedIsNoHarm(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.note("repair of the engine")
	h.asked("repair")
	h.close()
	h.embedding(vehicles)
	h.open()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := h.Embed(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if got := h.embed(); got.Made != 1 {
		t.Errorf("then it made %+v", got)
	}
}

func TestWithoutAnEmbedderSearchGoesOnByWords(t *testing.T) {
	t.Parallel()
	for setting, code := range map[string]problem.Code{
		"": problem.Usage, "words:/no/such/file": problem.Failed, "words:relative": problem.Failed, "other:x": problem.Failed,
	} {
		h := newHome(t, func(o *memory.Options) { o.Embedder = embed.NewSource(setting) })
		id := h.note("repair of the engine")
		if got := h.asked("engine repair"); !slices.Equal(got, []event.ID{id}) {
			t.Errorf("%q: found %v", setting, got)
		}
		_, err := h.Embed(t.Context())
		if p := problem.Of(err); p == nil || p.Code != code || p.Hint == "" {
			t.Errorf("%q: %v", setting, err)
		}
	}
}
