package replica

import (
	"testing"
	"time"
)

func TestASleepShowsOnTheWallClock(t *testing.T) {
	last := time.Now()
	for _, c := range []struct {
		passed time.Duration
		want   bool
	}{{lookEvery, false}, {lookEvery + 2*time.Second, false}, {time.Minute, true}, {8 * time.Hour, true}, {-time.Hour, false}} {
		// Without its reading of the monotonic clock, as that stands still.
		now := last.Round(0).Add(c.passed)
		if got := slept(last, now); got != c.want {
			t.Errorf("after %v on the wall: %v", c.passed, got)
		}
	}
}
