package event_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
)

func TestIDsSortByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()-1)
		a, b := time.UnixMilli(ms.Draw(t, "a")), time.UnixMilli(ms.Draw(t, "b"))
		x, y := event.NewID(a), event.NewID(b)
		if _, err := event.ParseID(string(x)); err != nil {
			t.Fatal(err)
		}
		if !x.Time().Equal(a) {
			t.Fatalf("the id of %v has time %v", a, x.Time())
		}
		if a.Before(b) && x >= y {
			t.Fatalf("%s of %v sorts after %s of %v", x, a, y, b)
		}
	})
}

// Whatever passes for an id has a time that an answer in JSON can carry.
func TestTheTimeOfEveryIDCanBeWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-7][0-9a-hjkmnp-tv-z]{25}`).Draw(t, "id")
		id, err := event.ParseID(s)
		if err != nil {
			return
		}
		b, err := json.Marshal(event.NewTime(id.Time()))
		if err != nil {
			t.Fatal(err)
		}
		var back event.Time
		if err := json.Unmarshal(b, &back); err != nil || !back.Equal(id.Time()) {
			t.Fatalf("%s reads as %v, %v", b, back, err)
		}
	})
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	last := event.NewID(year(20000))
	if _, err := event.ParseID(string(last)); err != nil || !last.Time().Equal(year(10000).Add(-time.Millisecond)) {
		t.Errorf("the last id %s: %v, %v", last, last.Time(), err)
	}
}

func TestLiveIDsNeverGoBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var newest event.ID
	var all []event.ID
	for i := range 5000 {
		// The clock stands still, jumps back nine minutes, and goes on.
		at := now.Add(time.Duration(i/1000) * time.Millisecond)
		if i%3 == 0 {
			at = now.Add(-9 * time.Minute)
		}
		newest = event.NextID(at, newest)
		all = append(all, newest)
	}
	if !slices.IsSorted(all) || len(slices.Compact(all)) != 5000 {
		t.Fatal("ids are not strictly increasing")
	}
}

// Machines whose clocks are behind the newest id that all of them have seen
// count on from it, each for itself.
func TestMachinesThatFollowOneIDDoNotMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		seen := event.NewID(now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 9 * time.Minute}).Draw(t, "ahead")))
		made := map[event.ID]bool{}
		for range rapid.IntRange(2, 4).Draw(t, "machines") {
			newest := seen
			for range rapid.IntRange(1, 50).Draw(t, "events") {
				next := event.NextID(now, newest)
				if next <= newest || made[next] {
					t.Fatalf("%s comes after %s, made before: %v", next, newest, made[next])
				}
				newest, made[next] = next, true
			}
		}
	})
}

func TestTheLastTailOfAMillisecondCarriesOver(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	last := event.NewID(now)[:10] + "zzzzzzzzzzzzzzzz"
	next := event.NextID(now, last)
	if next <= last || next.Time() != now.Add(time.Millisecond).UTC() {
		t.Fatalf("after %s comes %s", last, next)
	}
}

func TestAnIDFarAheadDoesNotMoveTheClock(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	near, far := event.NewID(now.Add(9*time.Minute)), event.NewID(now.Add(11*time.Minute))
	if got := event.NextID(now, near); got <= near {
		t.Errorf("an id nine minutes ahead is not followed: %s after %s", got, near)
	}
	if got := event.NextID(now, far); !got.Time().Equal(now) {
		t.Errorf("an id eleven minutes ahead moved the clock to %v", got.Time())
	}
}

func TestParseIDRefusesEverythingElse(t *testing.T) {
	for _, s := range []string{"", "short", "01J0000000000000000000000A", "8zzzzzzzzzzzzzzzzzzzzzzzzz", "7zzzzzzzzzzzzzzzzzzzzzzzzz", "0000000000000000000000000i", "000000000000000000000000000"} {
		if _, err := event.ParseID(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
		if !event.ID(s).Time().IsZero() {
			t.Errorf("%q has a time", s)
		}
	}
}

func TestADerivedIDBelongsToItsMomentAndText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 7e6, time.UTC)
	id := event.DerivedID(at, "one")
	if _, err := event.ParseID(string(id)); err != nil || !id.Time().Equal(at) || id != event.DerivedID(at, "one") {
		t.Errorf("%s, %v", id, err)
	}
	if id == event.DerivedID(at, "two") || id == event.DerivedID(at.Add(time.Millisecond), "one") {
		t.Error("two of them are the same")
	}
}
