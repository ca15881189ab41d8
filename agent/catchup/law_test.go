package catchup_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// Whatever happens between, catching up leads to the same facts and rows as
// reading everything from nothing.
func TestCatchingUpEqualsReadingEverything(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	h := newHome(t, "personal")
	ids := []event.ID{h.note("personal", "badger")}
	pick := func() event.ID { return ids[r.IntN(len(ids))] }
	steps := []func(){
		func() { ids = append(ids, h.note("personal", "badger")) },
		func() {
			ids = append(ids, h.append("personal", &event.Observe{Summary: "young badger", Supersedes: pick()})...)
		},
		func() { h.append("personal", &event.Archive{Target: pick(), Direction: event.DirectionArchive}) },
		func() { h.append("personal", &event.Redact{Target: pick(), Reason: "leaked"}) },
		func() { h.settle("personal") },
		func() { h.restart(func() {}) },
		func() { h.restart(func() { os.RemoveAll(filepath.Join(h.dir, "facts")) }) },
		func() { h.restart(func() { os.RemoveAll(h.index()) }) },
	}
	for range 60 {
		steps[r.IntN(len(steps))]()
	}
	h.settle("personal")
	h.noDifference("personal")
	view := projection.View{Now: time.Now()}
	var kept [32]byte
	h.in["personal"].Facts(func(s *projection.Set) { kept = s.Digest(view) })
	if kept != readAll(t, h.logs["personal"].(*eventlog.Log)).Digest(view) {
		t.Error("the facts kept are not those of the log")
	}
}

func readAll(t *testing.T, log *eventlog.Log) *projection.Set {
	t.Helper()
	head, err := log.Head()
	if err != nil {
		t.Fatal(err)
	}
	set := projection.NewSet()
	err = log.Added(t.Context(), [20]byte{}, head.Tree, func(s eventlog.Stored) error {
		set.Add(projection.FactOf(s.Event))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
