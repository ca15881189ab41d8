package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/hub/audit"
	"cairn/internal/disk"
	"cairn/internal/event"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func opened(t *testing.T, dir string, c *clock) *audit.Log {
	t.Helper()
	l, err := audit.Open(disk.OS, dir, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func add(t *testing.T, l *audit.Log, r audit.Record) {
	t.Helper()
	if err := l.Append(r); err != nil {
		t.Fatal(err)
	}
}

func targets(t *testing.T, l *audit.Log, f audit.Filter) string {
	t.Helper()
	page, err := l.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range page.Records {
		out = append(out, r.Target)
	}
	return strings.Join(out, " ")
}

func TestTheNewestRecordsComeFirstAcrossMonths(t *testing.T) {
	dir := t.TempDir()
	c := &clock{time.Date(2026, 1, 31, 23, 59, 0, 0, time.UTC)}
	l := opened(t, dir, c)
	add(t, l, audit.Record{Person: "ana", Action: "grant", Target: "one"})
	add(t, l, audit.Record{Person: "bo", Action: "grant", Target: "two"})
	c.t = c.t.Add(time.Hour)
	add(t, l, audit.Record{Person: "ana", Action: "push", Space: "team", Target: "three"})
	for want, f := range map[string]audit.Filter{
		"three two one": {},
		"three two":     {Limit: 2},
		"three one":     {Person: "ana"},
		"two one":       {Action: "grant"},
		"three":         {Space: "team"},
		"":              {Person: "cy"},
	} {
		if got := targets(t, l, f); got != want {
			t.Errorf("%+v finds %q, want %q", f, got, want)
		}
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 2 {
		t.Errorf("files %v, %v", names, err)
	}
}

func TestATornLineCostsOnlyItself(t *testing.T) {
	dir := t.TempDir()
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l := opened(t, dir, c)
	add(t, l, audit.Record{Target: "before"})
	f, err := os.OpenFile(filepath.Join(dir, "2026-01.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"target":"cut sho`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	add(t, l, audit.Record{Target: "after"})
	page, err := l.Read(audit.Filter{})
	if err != nil || page.Damaged != 1 || len(page.Records) != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
	if got := targets(t, l, audit.Filter{}); got != "after before" {
		t.Errorf("found %q", got)
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	logs := []*audit.Log{opened(t, dir, c), opened(t, dir, c)}
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			if err := logs[n%2].Append(audit.Record{Target: fmt.Sprint(n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	page, err := logs[0].Read(audit.Filter{})
	if err != nil || page.Damaged != 0 || len(page.Records) != 40 {
		t.Fatalf("%d records, %d damaged, %v", len(page.Records), page.Damaged, err)
	}
}

func TestAHugePushIsRecordedInAFewWords(t *testing.T) {
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l := opened(t, t.TempDir(), c)
	ids := make([]event.ID, 5000)
	for i := range ids {
		ids[i] = event.NewID(c.t)
	}
	add(t, l, audit.Record{Action: "push", Events: ids})
	page, err := l.Read(audit.Filter{})
	if err != nil || page.Records[0].Count != 5000 || len(page.Records[0].Events) != 100 || page.Records[0].Events[0] != ids[0] {
		t.Fatalf("%+v, %v", page, err)
	}
}
