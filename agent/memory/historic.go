package memory

import (
	"encoding/hex"
	"fmt"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/policy/scope"
)

// Undated items are spread backwards, so that no folder of an hour gets more
// of them than this.
const (
	undatedPerHour = 400
	undatedStep    = time.Hour / undatedPerHour
)

// historicTimes is, for each draft, the moment its event is of: what it says
// of itself but not later than now; for historic items without a date a moment
// in the past, in the order of the drafts; now for the others.
func (s *Service) historicTimes(drafts []api.Draft) []time.Time {
	now := s.opt.Now()
	out := make([]time.Time, len(drafts))
	spreads := map[string]*spread{}
	for i := len(drafts) - 1; i >= 0; i-- {
		d := &drafts[i]
		switch {
		case !d.Historic || len(d.Stored) > 0:
			out[i] = now
		case d.Observed == nil:
			out[i] = s.spreadOf(d.Space, now, spreads).next()
		case d.Observed.After(now):
			out[i] = now
		default:
			out[i] = d.Observed.Time
		}
	}
	return out
}

// A spread hands out moments, each before the last.
type spread struct {
	last  time.Time
	hour  time.Time
	used  int // events in that hour
	count func(from, to time.Time) int
}

// spreadOf is the spread of a space; one that does not exist is found out
// later, for each of its drafts.
func (s *Service) spreadOf(name string, now time.Time, all map[string]*spread) *spread {
	if name == "" {
		name = scope.Personal
	}
	if all[name] == nil {
		all[name] = &spread{last: now, count: func(from, to time.Time) (n int) {
			if sp, err := s.space(name); err == nil {
				sp.kept.Facts(func(set *projection.Set) { n = set.CountBetween(from, to) })
			}
			return n
		}}
	}
	return all[name]
}

func (s *spread) next() time.Time {
	s.last = s.last.Add(-undatedStep)
	for {
		if hour := s.last.Truncate(time.Hour); !hour.Equal(s.hour) {
			s.hour, s.used = hour, s.count(hour, hour.Add(time.Hour))
		}
		if s.used < undatedPerHour {
			s.used++
			return s.last
		}
		s.last = s.hour.Add(-undatedStep)
	}
}

// historicKey is the idempotency key of an item that has none of its own: what
// it says, and its date or else how often the same was said before it in the
// same import. So a second import of the same items adds nothing, and a
// preference that went from A to B and back to A is still three events.
func historicKey(content projection.Content, observed *event.Time, before int) string {
	if observed != nil {
		return fmt.Sprintf("import:%s:%d", hex.EncodeToString(content[:]), observed.UnixMilli())
	}
	return fmt.Sprintf("import:%s:#%d", hex.EncodeToString(content[:]), before)
}
