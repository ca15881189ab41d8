package replica

import (
	"testing"
	"time"
)

func TestASleepShowsOnTheWallClock(t *testing.T) {
	last, look := time.Now(), DefaultPatience.Look
	for _, c := range []struct {
		passed time.Duration
		want   bool
	}{{look, false}, {look + 2*time.Second, false}, {time.Minute, true}, {8 * time.Hour, true}, {-time.Hour, false}} {
		// Without its reading of the monotonic clock, as that stands still.
		now := last.Round(0).Add(c.passed)
		if got := slept(last, now, look); got != c.want {
			t.Errorf("after %v on the wall: %v", c.passed, got)
		}
	}
}
