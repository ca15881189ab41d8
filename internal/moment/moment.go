package moment

import (
	"strconv"
	"time"
)

// Forms says in words what Parse takes.
const Forms = "a date such as 2026-11-30, a time such as 2026-11-30T08:00:00Z, or a span such as 12h, 7d or 4w"

var dates = []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime, time.RFC3339}

// Date reads a date, or a date and a time. One without a zone is of this
// machine's zone.
func Date(s string) (time.Time, bool) { return parseAs(s, dates) }

// Parse also reads a month or a year, which is its beginning, and a span that
// ends now: hours, days and weeks, or what time.ParseDuration takes.
func Parse(s string, now time.Time) (time.Time, bool) {
	if t, ok := Date(s); ok {
		return t, true
	}
	if t, ok := parseAs(s, []string{"2006-01", "2006"}); ok {
		return t, true
	}
	if days, ok := daysOf(s); ok {
		return now.AddDate(0, 0, -days), true
	}
	d, err := time.ParseDuration(s)
	return now.Add(-d), err == nil && d >= 0 && s != "0"
}

func parseAs(s string, forms []string) (time.Time, bool) {
	for _, form := range forms {
		if t, err := time.ParseInLocation(form, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

var unitDays = map[byte]int{'d': 1, 'w': 7}

// daysOf reads days or weeks; there is an end to them, so that no sum of them
// overflows.
func daysOf(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	last := len(s) - 1
	n, err := strconv.ParseUint(s[:last], 10, 16)
	return int(n) * unitDays[s[last]], err == nil && unitDays[s[last]] > 0
}
