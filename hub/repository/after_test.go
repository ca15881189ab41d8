package repository_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"cairn/hub/repository"
	"cairn/internal/event"
)

// since reads what came after a moment.
func (h *hub) since(from repository.Moment) (ids []event.ID, to repository.Moment, err error) {
	to, err = h.team.EventsAfter(h.t.Context(), from, func(stored []byte) error {
		e, err := event.Decode(stored)
		ids = append(ids, e.ID)
		return err
	})
	return ids, to, err
}

func TestWhatCameAfterAMomentIsReadAndNoMore(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	first := m.note("first")
	m.push(event.MainRef).mustBeTaken(t)
	ids, at, err := h.since(repository.Moment{})
	if err != nil || !slices.Contains(ids, first.ID) {
		t.Fatalf("%v, %v", ids, err)
	}
	if ids, _, err := h.since(at); err != nil || len(ids) > 0 {
		t.Errorf("nothing came, and it reads %v, %v", ids, err)
	}
	second := m.note("second")
	m.push(event.MainRef).mustBeTaken(t)
	ids, at, err = h.since(at)
	if err != nil || !slices.Equal(ids, []event.ID{second.ID}) {
		t.Errorf("%v, %v", ids, err)
	}
	h.purge(first.ID)
	if _, _, err := h.since(at); !errors.Is(err, repository.ErrPurgedSince) {
		t.Errorf("after a purge: %v", err)
	}
	if ids, _, err := h.since(repository.Moment{}); err != nil || slices.Contains(ids, first.ID) || !slices.Contains(ids, second.ID) {
		t.Errorf("anew: %v, %v", ids, err)
	}
}

// Whoever reads a space, however long, keeps no push out.
func TestAReaderKeepsNoPushOut(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("first")
	m.push(event.MainRef).mustBeTaken(t)
	_, err := h.team.EventsAfter(context.Background(), repository.Moment{}, func([]byte) error {
		m.note("while it is read")
		m.push(event.MainRef).mustBeTaken(t)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
