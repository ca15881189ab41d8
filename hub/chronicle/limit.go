package chronicle

import (
	"cmp"
	"slices"
	"time"

	"cairn/hub/audit"
)

// perHour is how many events of one person and one rule are written in an hour.
const perHour = 60

// grace is how long after an hour its records may still be on their way into
// the log.
const grace = time.Minute

// An hours counts what was recorded in the hour that runs, by the records' own
// clock. That it never goes back makes it the same however often the log is
// read.
type hours struct {
	Hour  time.Time `json:"hour"`
	Spent []spent   `json:"spent,omitempty"` // sorted
}

// A spent is how much one person did that is counted together.
type spent struct {
	Person string `json:"person"`
	Rule   string `json:"rule"` // that was broken first, or else the action
	Count  int    `json:"count"`
}

func (s spent) compare(o spent) int {
	return cmp.Or(cmp.Compare(s.Person, o.Person), cmp.Compare(s.Rule, o.Rule))
}

// An entry is what becomes one event: a record, or how many more there were.
type entry struct {
	audit.Entry
	more *spent    // nil for a record
	hour time.Time // of more
}

// take counts a record, and is what is to be written: the counts of an hour
// that has passed, and the record itself unless there were too many like it.
func (h *hours) take(r audit.Entry) []entry {
	list := h.pass(r.At.Time)
	like := spent{Person: r.Person, Rule: r.Action}
	if len(r.Rules) > 0 {
		like.Rule = r.Rules[0]
	}
	i, ok := slices.BinarySearchFunc(h.Spent, like, spent.compare)
	if !ok {
		h.Spent = slices.Insert(h.Spent, i, like)
	}
	h.Spent[i].Count++
	if h.Spent[i].Count > perHour {
		return list
	}
	return append(list, entry{Entry: r})
}

// pass begins the hour of a moment, if it is a later one.
func (h *hours) pass(to time.Time) []entry {
	hour := to.UTC().Truncate(time.Hour)
	if !hour.After(h.Hour) {
		return nil
	}
	var list []entry
	for _, s := range h.Spent {
		if s.Count -= perHour; s.Count > 0 {
			list = append(list, entry{more: &s, hour: h.Hour})
		}
	}
	h.Hour, h.Spent = hour, nil
	return list
}
