package memory

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/policy/scope"
)

// No folder of an hour gets historic items beyond this number: git keeps a
// folder as one list, which every later event of the hour would write anew.
const (
	historicPerHour = 400
	historicStep    = time.Hour / historicPerHour
)

// historicTimes is, for each draft, the moment its event is of: what it says
// of itself but not later than now; for historic items without a date a moment
// in the past, in the order of the drafts; now for the others. Where too many
// are of one hour, the older ones are moved to hours before, in their order.
func (s *Service) historicTimes(drafts []api.Draft) []time.Time {
	return historicTimes(drafts, s.opt.Now(), func(name string, from, to time.Time) (n int) {
		// A space that does not exist is found out later, for each of its drafts.
		if sp, err := s.space(name); err == nil {
			sp.kept.Facts(func(set *projection.Set) { n = set.CountBetween(from, to) })
		}
		return n
	})
}

// historicTimes does that, where count says how many events a space has.
func historicTimes(drafts []api.Draft, now time.Time, count func(space string, from, to time.Time) int) []time.Time {
	out := make([]time.Time, len(drafts))
	var dated, undated []int
	for i, d := range drafts {
		switch {
		case !d.Historic || len(d.Stored) > 0:
			out[i] = now
		case d.Observed == nil:
			out[i], undated = now, append(undated, i)
		default:
			out[i], dated = earlier(d.Observed.Time, now), append(dated, i)
		}
	}
	slices.SortStableFunc(dated, func(a, b int) int { return out[a].Compare(out[b]) })
	crowds := map[string]*crowd{}
	of := func(name string) *crowd {
		name = cmp.Or(name, scope.Personal)
		if crowds[name] == nil {
			crowds[name] = newCrowd(now, func(from, to time.Time) int { return count(name, from, to) })
		}
		return crowds[name]
	}
	for _, i := range slices.Backward(dated) {
		c := of(drafts[i].Space)
		out[i] = c.dated.next(c, out[i])
	}
	for _, i := range slices.Backward(undated) {
		c := of(drafts[i].Space)
		out[i] = c.undated.next(c, now)
	}
	return out
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// A crowd places the items of one import in one space.
type crowd struct {
	count          func(from, to time.Time) int
	used           map[time.Time]int // events by hour
	dated, undated line
}

func newCrowd(now time.Time, count func(from, to time.Time) int) *crowd {
	return &crowd{count: count, used: map[time.Time]int{}, undated: line{last: now, pushed: true}}
}

// A line hands out moments, none after the one before.
type line struct {
	last   time.Time
	pushed bool // last is earlier than was wanted
}

// next is a moment for an item that would like to be of want.
func (q *line) next(c *crowd, want time.Time) time.Time {
	t := want
	if q.pushed && !want.Before(q.last) {
		t = q.last.Add(-historicStep)
	}
	t = c.place(t)
	q.last, q.pushed = t, t.Before(want)
	return t
}

// place is t, or the nearest moment before it whose hour has room. The first
// hour of 1970 is the first that an id can name; what finds no room up to there
// comes later than it would like to.
func (c *crowd) place(t time.Time) time.Time {
	epoch := time.Unix(0, 0).UTC()
	hour := t.Truncate(time.Hour)
	for ; c.full(hour) && hour.After(epoch); hour = t.Truncate(time.Hour) {
		t = hour.Add(-historicStep)
	}
	if hour.Before(epoch) {
		t, hour = epoch, epoch
	}
	for ; c.full(hour); hour = t {
		t = hour.Add(time.Hour)
	}
	c.used[hour]++
	return t
}

func (c *crowd) full(hour time.Time) bool {
	if _, known := c.used[hour]; !known {
		c.used[hour] = c.count(hour, hour.Add(time.Hour))
	}
	return c.used[hour] >= historicPerHour
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
