package repository_test

import (
	"fmt"
	"testing"
	"time"

	"cairn/hub/repository"
	"cairn/internal/event"
)

// A repository that nobody pushes to any more is tidied up by itself, though
// there are fewer packs than make it worth the while between pushes.
func TestARepositoryAtRestIsTidiedUp(t *testing.T) {
	t.Parallel()
	const pushes, few = 20, 8
	push := func(h *hub) {
		m := h.clone("laptop")
		for i := range pushes {
			m.note(fmt.Sprint("note ", i))
			m.push(event.MainRef).mustBeTaken(t)
		}
	}
	busy := newHub(t, repository.Limits{Rest: time.Hour})
	push(busy)
	if n := len(busy.packs()); n < pushes {
		t.Errorf("%d packs before the repository was at rest", n)
	}
	busy.team.AtRest()
	if n := len(busy.packs()); n > few || !busy.asTheyAre() {
		t.Errorf("%d packs are left when it is at rest for the first time", n)
	}
	h := newHub(t, repository.Limits{Rest: 50 * time.Millisecond})
	push(h)
	for end := time.Now().Add(20 * time.Second); (len(h.packs()) > few || !h.asTheyAre()) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := len(h.packs()); n > few {
		t.Errorf("%d packs are left", n)
	}
	if !h.asTheyAre() {
		t.Error("the packs are not sent as they are")
	}
	if got := len(h.events()); got != pushes {
		t.Errorf("%d events", got)
	}
	h.fsck()
}

// What was left untidy is tidied up though nobody pushes: a hub may have been
// stopped before the repository was at rest.
func TestARepositoryIsTidiedUpAfterARestart(t *testing.T) {
	t.Parallel()
	const pushes, few = 20, 8
	h := newHub(t, repository.Limits{Rest: time.Hour})
	m := h.clone("laptop")
	for i := range pushes {
		m.note(fmt.Sprint("note ", i))
		m.push(event.MainRef).mustBeTaken(t)
	}
	h.limits.Rest = time.Millisecond
	h.reopen()
	for end := time.Now().Add(20 * time.Second); len(h.packs()) > few && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := len(h.packs()); n > few {
		t.Errorf("%d packs are left", n)
	}
}
