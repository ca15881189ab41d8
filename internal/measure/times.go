package measure

import (
	"math"
	"slices"
	"time"
)

// Times are how long the runs of one thing took, in any order.
type Times []time.Duration

// Percentile is the smallest of the times that p percent of them, 0 < p <= 100,
// do not exceed (the nearest rank); zero if there are none.
func (t Times) Percentile(p float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
