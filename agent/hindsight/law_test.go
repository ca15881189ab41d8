package hindsight_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/longtest"
)

// A version is one of a drawn chain, in the terms of the oracle.
type version struct {
	since    time.Time
	patterns []string // prefixes
	trial    bool     // of the first pattern, until the day is over
	kinds    []event.Kind
	small    bool // no event over a kilobyte
}

func (v version) file() string {
	var b strings.Builder
	if len(v.kinds) > 0 {
		var names []string
		for _, k := range v.kinds {
			names = append(names, string(k))
		}
		b.WriteString(kinds(names...))
	}
	if v.small {
		b.WriteString("limits: {event: 1KiB}\n")
	}
	for i, prefix := range v.patterns {
		var more []string
		if i == 0 {
			b.WriteString("secrets:\n  patterns:\n")
			if v.trial {
				more = []string{"stage: report", "until: " + noon.Format(time.DateOnly)}
			}
		}
		b.WriteString(pattern(prefix, more...))
	}
	return b.String()
}

// finds says whether one of the patterns that refuse finds a text, when the
// trials are over or not.
func (v version) finds(text string, over bool) bool {
	for i, prefix := range v.patterns {
		if strings.Contains(text, prefix+"-") && (over || i > 0 || !v.trial) {
			return true
		}
	}
	return false
}

func (v version) fits(e event.Event) bool {
	return (len(v.kinds) == 0 || slices.Contains(v.kinds, e.Kind)) && (!v.small || len(e.Payload.Body()) < 1000)
}

// fit is the law, written as it is said: secrets by the newest version; all
// else by any version that was in force at the event's time, less ten minutes,
// or later.
func fit(all []version, e event.Event, over bool) bool {
	if all[len(all)-1].finds(e.Payload.Body(), over) {
		return false
	}
	for i, v := range all {
		ended := i+1 < len(all) && all[i+1].since.Before(e.ID.Time().Add(-10*time.Minute))
		if !ended && v.fits(e) {
			return true
		}
	}
	return !all[0].since.Before(e.ID.Time().Add(-10 * time.Minute))
}

var prefixes = []string{"ACME", "OTHER", "THIRD"}

func drawVersions(t *rapid.T) []version {
	var all []version
	since := noon
	for i := range rapid.IntRange(1, 5).Draw(t, "versions") {
		if i > 0 && rapid.Bool().Draw(t, "back") {
			back := all[rapid.IntRange(0, i-1).Draw(t, "to")]
			back.since = since
			all = append(all, back)
		} else {
			v := version{since: since, trial: rapid.Bool().Draw(t, "trial"), small: rapid.Bool().Draw(t, "small")}
			v.patterns = rapid.SliceOfNDistinct(rapid.SampledFrom(prefixes), 0, 2, rapid.ID).Draw(t, "patterns")
			v.kinds = rapid.SliceOfNDistinct(rapid.SampledFrom([]event.Kind{event.KindObserve, event.KindLesson, event.KindPref}), 0, 2, rapid.ID).Draw(t, "kinds")
			all = append(all, v)
		}
		since = since.Add(rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute, 11 * time.Minute, time.Hour}).Draw(t, "for"))
	}
	return all
}

func drawEvents(t *rapid.T) []event.Event {
	var list []event.Event
	for i := range rapid.IntRange(1, 10).Draw(t, "events") {
		when := noon.Add(time.Duration(rapid.IntRange(-15, 150).Draw(t, "minute")) * time.Minute)
		text := fmt.Sprintf("event %d %s", i, rapid.SampledFrom([]string{"", "", "on ACME-123456", "on OTHER-123456", "on THIRD-123456"}).Draw(t, "text"))
		if rapid.Bool().Draw(t, "long") {
			text += strings.Repeat(" and so on", 120)
		}
		if rapid.Bool().Draw(t, "lesson") {
			list = append(list, lesson(when, text))
		} else {
			list = append(list, note(when, text))
		}
	}
	return list
}

// live lets a machine meet all events and versions in an order of its own, look
// back now and then, die and start again.
func live(t *rapid.T, m *machine, c *chain, events []event.Event, over bool) {
	heard := 0
	todo := rapid.Permutation(events).Draw(t, "order")
	for len(todo) > 0 || heard < len(c.list) {
		switch rapid.SampledFrom([]string{"event", "event", "event", "version", "look", "look and die", "restart", "tomorrow"}).Draw(t, "next") {
		case "event":
			if len(todo) > 0 {
				m.take(todo[0])
				todo = todo[1:]
			}
		case "version":
			if heard < len(c.list) {
				heard = rapid.IntRange(heard+1, len(c.list)).Draw(t, "heard")
				m.hear(c, heard)
			}
		case "look":
			m.look()
		case "look and die":
			m.die = m.settled + rapid.IntRange(1, 3).Draw(t, "at")
			m.look()
			m.die = 0
		case "restart":
			m.restart()
		case "tomorrow":
			if over {
				m.clock = noon.Add(24 * time.Hour)
			}
		}
	}
}

// The same events and the same chain, the same answer: on every machine,
// whatever came first, and whatever broke off on the way.
func TestEveryMachineShowsTheSame(t *testing.T) {
	parent := t.TempDir()
	round := func(t *rapid.T) {
		dir, err := os.MkdirTemp(parent, "round")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		all, events := drawVersions(t), drawEvents(t)
		var c chain
		for _, v := range all {
			c.push(v.since, v.file())
		}
		over := rapid.Bool().Draw(t, "the trials are over")
		var want []event.ID
		for _, e := range events {
			if fit(all, e, over) {
				want = append(want, e.ID)
			}
		}
		slices.Sort(want)
		for i := range 2 {
			m := newMachine(t, fmt.Sprintf("%s/%d", dir, i))
			defer m.close()
			live(t, m, &c, events, over)
			if over {
				m.clock = noon.Add(24 * time.Hour)
			}
			m.look()
			if got := m.shown(); !slices.Equal(got, want) {
				t.Fatalf("machine %d shows %v, want %v", i, got, want)
			}
		}
	}
	rapid.Check(t, round)
	for range longtest.Rounds(0, 20) {
		rapid.Check(t, round)
	}
}
