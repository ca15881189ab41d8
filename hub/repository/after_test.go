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

// Who had to break off goes on from there: each event is read once, also one that came meanwhile and has an earlier id.
func TestAReadingGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m, late := h.clone("laptop"), h.clone("desktop")
	early := late.note("saved early, and pushed late")
	want := []event.ID{early.ID}
	for range 5 {
		want = append(want, m.note("one more").ID)
	}
	m.push(repository.ForMain).mustBeTaken(t)
	enough := errors.New("enough")
	var got []event.ID
	var at repository.Moment
	err := enough
	for n := 0; errors.Is(err, enough) && n < 20; n++ {
		left := 2
		at, err = h.team.EventsAfter(t.Context(), at, func(stored []byte) error {
			if left--; left < 0 {
				return enough
			}
			e, err := event.Decode(stored)
			got = append(got, e.ID)
			return err
		})
		if n == 0 {
			late.push(repository.ForMain).mustBeTaken(t)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, want %v, %v", got, want, err)
	}
	if ids, _, err := h.since(at); err != nil || len(ids) > 0 {
		t.Errorf("nothing more came, and it reads %v, %v", ids, err)
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
