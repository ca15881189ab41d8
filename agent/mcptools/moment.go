package mcptools

import (
	"time"

	"cairn/internal/event"
	"cairn/internal/moment"
)

// momentOf reads the time that an argument gives; no text is no time.
func momentOf(field, text string, now time.Time) (*event.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, ok := moment.Parse(text, now)
	if !ok {
		return nil, wrongUse(field, "%s must be %s", field, moment.Forms)
	}
	t := event.NewTime(at)
	return &t, nil
}
