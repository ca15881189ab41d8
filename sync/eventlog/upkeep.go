package eventlog

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// RestAfter is how long a log should have stayed as it is to be at rest.
const RestAfter = 30 * time.Second

// An Upkeep keeps a log tidy: what cannot wait as it comes up, and the rest when
// the log has been at rest for a while. After that it does nothing until the log
// has another head. It is not safe for concurrent use; the log may be used
// meanwhile by all others.
type Upkeep struct {
	log   *Log
	rest  time.Duration
	head  plumbing.Hash // at the last look
	since time.Time     // when a look saw it first
	done  bool          // all that there is to do for it
}

// NewUpkeep is the upkeep of l, which is at rest when it has not changed for
// the time of rest.
func NewUpkeep(l *Log, rest time.Duration) *Upkeep { return &Upkeep{log: l, rest: rest} }

// Look does what is due at the time now. It may take long and be canceled; what
// failed is done again at the next look. Errors: those of Head and Tidy.
func (u *Upkeep) Look(ctx context.Context, now time.Time) (gitstore.CompactStats, error) {
	head, err := u.log.Head()
	if err != nil {
		return gitstore.CompactStats{}, fmt.Errorf("tidy up space %s: %w", u.log.Space().Name, err)
	}
	if head.Commit != u.head {
		u.head, u.since, u.done = head.Commit, now, false
	}
	if u.Done() {
		return gitstore.CompactStats{}, nil
	}
	if now.Sub(u.since) < u.rest {
		return u.log.Tidy(ctx)
	}
	stats, err := u.log.TidyAtRest(ctx)
	u.done = err == nil
	return stats, err
}

// Done says whether a look would find nothing to do, unless the log has moved.
func (u *Upkeep) Done() bool { return u.done && !u.log.Untidy() }
