package repository_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// at is a signed event of this machine from another time.
func (m *machine) at(when time.Time, text string) event.Event {
	e := eventtest.Note(text)
	e.ID, e.Observed = event.NewID(when), event.NewTime(when)
	e.Space, e.Classification = "team", event.Public
	return eventtest.Signed(e, m.name)
}

// Whoever has the whole id of an event waits for no walk through the space, and
// for nothing that lies beside it.
func TestAWholeIdIsFoundWithoutAWalk(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	before := h.packs()
	m.append(m.at(time.Now().AddDate(0, -3, 0), "of another month"))
	m.push(event.MainRef).mustBeTaken(t)
	lost := slices.DeleteFunc(h.packs(), func(p string) bool { return slices.Contains(before, p) })
	e := m.note("wanted")
	m.push(event.MainRef).mustBeTaken(t)
	whole := string(e.ID)
	for _, ref := range []string{whole, "~" + whole, whole[:20], whole[10:]} {
		if found, err := h.team.Find(t.Context(), ref); err != nil || len(found) != 1 || found[0].ID != e.ID {
			t.Errorf("%s: %d found, %v", ref, len(found), err)
		}
	}
	for _, ref := range []string{string(event.NewID(time.Now())), whole[:5], ""} {
		if found, err := h.team.Find(t.Context(), ref); err != nil || len(found) != 0 {
			t.Errorf("%s: %d found, %v", ref, len(found), err)
		}
	}
	for _, pack := range lost {
		if err := os.Remove(pack); err != nil {
			t.Fatal(err)
		}
	}
	h.reopen()
	if found, err := h.team.Find(t.Context(), whole[:20]); err == nil {
		t.Fatalf("nothing is lost by the walk, so this shows nothing: %d found", len(found))
	}
	if found, err := h.team.Find(t.Context(), whole); err != nil || len(found) != 1 {
		t.Errorf("%s: %d found, %v", whole, len(found), err)
	}
}
