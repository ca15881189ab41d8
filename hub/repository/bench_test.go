package repository_test

import (
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// stocked is a hub whose main has n events, spread over hours as in life, and
// a machine that is level with it.
func stocked(b *testing.B, n int) (*hub, *machine) {
	b.Helper()
	h := newHub(b, repository.Limits{})
	m := h.clone("laptop")
	start := time.Now().Add(-time.Duration(n) * time.Minute)
	for done := 0; done < n; {
		var batch []event.Event
		for range min(256, n-done) {
			e := m.event("an event of some length, as notes have it")
			e.ID = event.NewID(start.Add(time.Duration(done) * time.Minute))
			batch = append(batch, eventtest.Signed(e, m.name))
			done++
		}
		m.append(batch...)
	}
	m.push(event.MainRef).mustBeTaken(b)
	return h, m
}

// What a push of one event costs must not depend on how many there are.
func BenchmarkPushOne(b *testing.B) {
	for name, n := range map[string]int{"onto 100": 100, "onto 3000": 3000} {
		b.Run(name, func(b *testing.B) {
			_, m := stocked(b, n)
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				m.note("one more")
				b.StartTimer()
				m.push(event.MainRef).mustBeTaken(b)
			}
		})
	}
}

func BenchmarkFetchNothing(b *testing.B) {
	_, m := stocked(b, 1000)
	for b.Loop() {
		if m.fetch() == plumbing.ZeroHash {
			b.Fatal("no head")
		}
	}
}

func BenchmarkClone(b *testing.B) {
	h, _ := stocked(b, 1000)
	for b.Loop() {
		h.clone("desktop")
	}
}
