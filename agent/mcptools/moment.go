package mcptools

import (
	"strconv"
	"time"

	"cairn/internal/event"
)

var spans = map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// momentForms are the ways to write a time. One without a zone means the zone
// of this machine.
var momentForms = []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime, time.RFC3339}

// moment reads a time: a date, a date and time, or a span such as 7d that
// ends now. No text is no time.
func moment(field, text string, now time.Time) (*event.Time, error) {
	if text == "" {
		return nil, nil
	}
	if span, ok := spans[text[len(text)-1]]; ok {
		if n, err := strconv.ParseUint(text[:len(text)-1], 10, 16); err == nil {
			t := event.NewTime(now.Add(-time.Duration(n) * span))
			return &t, nil
		}
	}
	for _, form := range momentForms {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			t := event.NewTime(at)
			return &t, nil
		}
	}
	return nil, wrongUse(field, "%s must be a date such as 2026-11-30, a time such as 2026-11-30T08:00:00Z, or a span such as 12h, 7d or 4w", field)
}
