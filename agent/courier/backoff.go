package courier

import (
	"math/rand/v2"
	"time"
)

// A remote that is out of reach is tried again at least this often during the
// first minute, so that a hub that restarts is found at once; then less and
// less often.
const (
	eager    = time.Minute
	quick    = 1500 * time.Millisecond
	slowest  = time.Minute
	refusedN = 2 * time.Minute // after a refusal: somebody has to act first
)

// backoff says how long to wait before the next try.
type backoff struct {
	since time.Time // first failure in a row; zero when all is well
	tries int       // after the eager minute
}

// next is the wait after a failure at now, with jitter so that many machines
// do not come back in the same instant.
func (b *backoff) next(now time.Time) time.Duration {
	if b.since.IsZero() {
		b.since = now
	}
	if now.Sub(b.since) < eager {
		return jitter(quick)
	}
	b.tries++
	return jitter(min(quick<<min(b.tries, 10), slowest))
}

func (b *backoff) reset() { *b = backoff{} }

// jitter is between half of d and d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
