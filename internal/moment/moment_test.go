package moment_test

import (
	"testing"
	"time"

	"cairn/internal/moment"
)

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	local := func(y int, m time.Month, d, h, min, s int) time.Time {
		return time.Date(y, m, d, h, min, s, 0, time.Local)
	}
	for text, want := range map[string]time.Time{
		"12h": now.Add(-12 * time.Hour), "90m": now.Add(-90 * time.Minute), "1h30m": now.Add(-90 * time.Minute),
		"7d": now.AddDate(0, 0, -7), "2w": now.AddDate(0, 0, -14), "0d": now, "0h": now,
		"2026":                      local(2026, 1, 1, 0, 0, 0),
		"2026-02":                   local(2026, 2, 1, 0, 0, 0),
		"2026-11-01":                local(2026, 11, 1, 0, 0, 0),
		"2026-11-01T08:30":          local(2026, 11, 1, 8, 30, 0),
		"2026-11-01T08:30:01":       local(2026, 11, 1, 8, 30, 1),
		"2026-11-01 08:30":          local(2026, 11, 1, 8, 30, 0),
		"2026-11-01 08:30:01":       local(2026, 11, 1, 8, 30, 1),
		"2026-11-01T08:30:00+02:00": time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC),
		"2026-11-01T08:30:00.123Z":  time.Date(2026, 11, 1, 8, 30, 0, 123e6, time.UTC),
	} {
		if got, ok := moment.Parse(text, now); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "0", "7", "d", "-7d", "-3h", " 7d", "7y", "yesterday", "2026-13-01", "11/30/2026", "99999999999d", "2026-11-01x"} {
		if got, ok := moment.Parse(text, now); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestADateIsNoSpan(t *testing.T) {
	for _, text := range []string{"7d", "12h", "2026", "2026-11"} {
		if got, ok := moment.Date(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"12h", "65535w", "2026-02-29", "9999-12-31", "\xff", "1e9h"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if at, ok := moment.Parse(s, now); ok && (at.Year() < 0 || at.Year() > 9999) {
			t.Errorf("%q is %v, which no RFC 3339 time can be", s, at)
		}
	})
}
