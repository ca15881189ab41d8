package memory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
)

// most is how many historic items the folder of an hour may get.
const most = 500

// A shelf is how many events a space has in each hour.
type shelf map[time.Time]int

func (s shelf) count(_ string, from, to time.Time) (n int) {
	for hour := from; hour.Before(to); hour = hour.Add(time.Hour) {
		n += s[hour]
	}
	return n
}

// put notes a batch, and checks what must hold of each.
func (s shelf) put(t interface{ Fatalf(string, ...any) }, now time.Time, drafts []api.Draft) []time.Time {
	times := memory.HistoricTimes(drafts, now, s.count)
	var lastUndated time.Time
	for i, at := range times {
		if at.After(now) {
			t.Fatalf("item %d is of %s, now it is %s", i, at, now)
		}
		if drafts[i].Observed == nil {
			if !at.After(lastUndated) {
				t.Fatalf("item %d, without a date, comes before the one in front of it", i)
			}
			lastUndated = at
		}
		s[event.NewID(at).Time().UTC().Truncate(time.Hour)]++
	}
	for hour, n := range s {
		if n > most {
			t.Fatalf("%d items in the hour of %s", n, hour)
		}
	}
	return times
}

// However an import is dated, also all of one moment or before 1970, no hour
// gets too many; what fits has its own time, and the older of two is never put
// after the newer.
func TestNoImportCrowdsAnHour(t *testing.T) {
	now := day(20)
	moments := rapid.Map(rapid.Int64Range(-30, 3_000_000), func(minutes int64) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) })
	rapid.Check(t, func(t *rapid.T) {
		shelf, crowded := shelf{}, rapid.SliceOfN(moments, 1, 4).Draw(t, "crowded")
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			var drafts []api.Draft
			for range rapid.IntRange(1, 450).Draw(t, "items") {
				drafts = append(drafts, historic("x"))
			}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			for i := range drafts {
				if r.IntN(4) > 0 {
					at := event.NewTime(crowded[r.IntN(len(crowded))].Add(time.Duration(r.IntN(3)) * time.Minute))
					drafts[i].Observed = &at
				}
			}
			times := shelf.put(t, now, drafts)
			inOrder(t, drafts, times)
		}
	})
}

func inOrder(t *rapid.T, drafts []api.Draft, times []time.Time) {
	for i, a := range drafts {
		for j, b := range drafts[:i] {
			if a.Observed != nil && b.Observed != nil && b.Observed.Before(a.Observed.Time) && times[j].After(times[i]) {
				t.Fatalf("%s was put at %s, and %s at %s", b.Observed, times[j], a.Observed, times[i])
			}
		}
	}
}

// Fifty thousand notes, in the batches in which the command line sends them.
func TestFiftyThousandImportedNotes(t *testing.T) {
	now := day(20)
	for name, dated := range map[string]func(i int) *event.Time{
		"without a date": func(int) *event.Time { return nil },
		"of one moment":  func(int) *event.Time { at := event.NewTime(day(3)); return &at },
		"of one year": func(i int) *event.Time {
			at := event.NewTime(day(3).Add(-time.Duration(i) * 10 * time.Minute))
			return &at
		},
		"before 1970": func(int) *event.Time { at := event.NewTime(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)); return &at },
		"some of each": func(i int) *event.Time {
			at := event.NewTime(day(3).Add(time.Duration(i%7) * time.Minute))
			if i%3 == 0 {
				return nil
			}
			return &at
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shelf := shelf{}
			var drafts []api.Draft
			for i := range 50_000 {
				d := historic("x")
				d.Observed = dated(i)
				if drafts = append(drafts, d); len(drafts) == 256 {
					shelf.put(t, now, drafts)
					drafts = nil
				}
			}
			shelf.put(t, now, drafts)
		})
	}
}

// The same with a real log: every item keeps its date and has an id of its own.
func TestACrowdedHourIsSpread(t *testing.T) {
	t.Parallel()
	h := newHome(t, anythingGoes)
	ids, perHour := map[event.ID]bool{}, shelf{}
	for batch := range 2 {
		var drafts []api.Draft
		for i := range 300 {
			drafts = append(drafts, historic(fmt.Sprintf("badger %d %d", batch, i), day(3)))
		}
		for _, r := range h.imports(drafts...) {
			ids[r.Receipt.ID] = true
			perHour[r.Receipt.ID.Time().UTC().Truncate(time.Hour)]++
		}
	}
	if len(ids) != 600 || len(perHour) != 2 {
		t.Errorf("%d ids in %d hours", len(ids), len(perHour))
	}
	for hour, n := range perHour {
		if n > most {
			t.Errorf("%d of them in the hour of %s", n, hour)
		}
	}
	for id := range ids {
		if got := h.show(string(id)).Hit.Observed; !got.Equal(day(3)) {
			t.Errorf("observed %s", got)
		}
		break
	}
}
