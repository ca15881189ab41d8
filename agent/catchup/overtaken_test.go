package catchup_test

import (
	"sync"
	"testing"
	"time"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// bent makes the only log of a home one of which the test changes what it says.
func (h *home) bent(space string) *bentLog {
	bent := &bentLog{Log: h.logs[space].(*eventlog.Log)}
	h.restart(func() { h.logs[space] = bent })
	return bent
}

func knows(s *catchup.Space, id event.ID) (known bool) {
	s.Facts(func(set *projection.Set) { _, known = set.Kind(id) })
	return known
}

// Whoever levels may have looked at the log before something was saved, and go
// on after it: what was saved stays known, and found.
func TestALevelThatIsOvertakenTakesNothingBack(t *testing.T) {
	t.Parallel()
	for name, level := range map[string]func(*home) error{
		"facts and index": func(h *home) error { return h.in["personal"].Level(h.t.Context()) },
		"rebuild":         func(h *home) error { return h.k.Rebuild(h.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "personal")
			bent := h.bent("personal")
			first := h.note("personal", "alpha badger")
			h.level("personal")
			saved := make(chan event.ID, 1)
			bent.looked = sync.OnceFunc(func() {
				done := make(chan struct{})
				go func() {
					saved <- h.saved("personal", "beta badger")
					close(done)
				}()
				select {
				case <-done:
				case <-time.After(100 * time.Millisecond): // it has to wait for us
				}
			})
			if err := level(h); err != nil {
				t.Fatal(err)
			}
			second := <-saved
			if !knows(h.in["personal"], second) {
				t.Error("what was saved is not known any more")
			}
			h.settle("personal")
			h.found("badger", first, second)
			h.noDifference("personal")
		})
	}
}

// A head that the log had is no way back either.
func TestFactsDoNotGoBackToAFormerHead(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	h.note("personal", "alpha badger")
	h.level("personal")
	former, err := h.logs["personal"].Head()
	if err != nil {
		t.Fatal(err)
	}
	second := h.saved("personal", "beta badger")
	if err := h.in["personal"].LevelFacts(t.Context(), former); err != nil {
		t.Fatal(err)
	}
	if !knows(h.in["personal"], second) {
		t.Error("what was saved is not known any more")
	}
}

// While everything is read anew the facts are those from before or those from
// after.
func TestFactsThatAreReadAnewDoNotVanishMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	bent := h.bent("personal")
	id := h.note("personal", "badger")
	h.level("personal")
	s := h.in["personal"]
	reading, done := make(chan struct{}), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		close(reading)
		for {
			select {
			case <-done:
				return
			default:
			}
			if !knows(s, id) {
				t.Error("a fact has vanished")
				return
			}
		}
	})
	<-reading
	for range 300 {
		bent.epoch++
		if err := s.LevelFacts(t.Context(), eventlog.Head{}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	reader.Wait()
}
