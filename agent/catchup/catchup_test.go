package catchup_test

import (
	"errors"
	"testing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/search"
)

func TestOneProcessWritesAndTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	first := h.note("personal", "alpha badger")
	h.level("personal")
	other := catchup.Open(h.options())
	defer other.Close()
	theirs := h.attach(other)["personal"]
	settle(t, theirs) // the owner is level, and what it wrote reaches the disk
	if got := ask(t, other, "badger"); !sameIDs(got, []event.ID{first}) {
		t.Errorf("beside the owner: %v", got)
	}
	second := h.note("personal", "beta badger")
	if err := theirs.Level(t.Context()); !errors.Is(err, catchup.ErrBehind) {
		t.Errorf("while the owner is behind: %v", err)
	}
	theirs.Facts(func(s *projection.Set) {
		if s.Count() != 2 {
			t.Errorf("%d facts", s.Count())
		}
	})
	h.restart(func() { settle(t, theirs) })
	if got := ask(t, other, "badger"); !sameIDs(got, []event.ID{first, second}) {
		t.Errorf("after taking over: %v", got)
	}
}

func TestTheFormerIndexAnswersDuringARebuild(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	var payloads []event.Payload
	for range 256 {
		payloads = append(payloads, &event.Observe{Summary: "filler"})
	}
	h.append("personal", payloads...)
	id := h.note("personal", "badger")
	h.level("personal")
	done := make(chan error)
	go func() { done <- h.k.Rebuild(t.Context()) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			h.found("badger", id)
			return
		default:
			h.found("badger", id)
		}
	}
}

func TestAClosedKeeperSaysSo(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	h.close()
	if _, err := h.k.Ask(t.Context(), search.Query{Text: "x"}); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("ask: %v", err)
	}
	if err := h.in["personal"].Level(t.Context()); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("level: %v", err)
	}
	if err := h.k.Rebuild(t.Context()); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("rebuild: %v", err)
	}
	if _, err := h.k.Add(h.logs["personal"]); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("add: %v", err)
	}
}
