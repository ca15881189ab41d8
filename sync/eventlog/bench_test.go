package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
)

// prose makes a note about as long as one that somebody writes.
var prose = strings.Repeat("what we have learned about this must not be lost. ", 10)

func noteAt(i int, at time.Time) event.Event {
	e := eventtest.Note(fmt.Sprint(prose, i))
	e.ID = event.NewID(at)
	return eventtest.Signed(e, "laptop")
}

// filled is a log of n events on a real disk, a thousand a day, and somebody who settles.
func filled(b *testing.B, n int) *eventlog.Log {
	b.Helper()
	backlog := make(chan struct{}, 1)
	l, err := eventlog.Create(disk.OS, filepath.Join(b.TempDir(), "personal.git"), personal, eventlog.WithBacklog(func() {
		select {
		case backlog <- struct{}{}:
		default:
		}
	}))
	if err != nil {
		b.Fatal(err)
	}
	fill(b, l, n)
	ctx, stop := context.WithCancel(context.Background())
	var settler sync.WaitGroup
	settler.Go(func() { settleOnCall(ctx, b, l, backlog) })
	b.Cleanup(func() {
		stop()
		settler.Wait()
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

func settleOnCall(ctx context.Context, b *testing.B, l *eventlog.Log, call <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-call:
		}
		if _, err := l.Tidy(ctx); err != nil && ctx.Err() == nil {
			b.Error(err)
		}
	}
}

func fill(b *testing.B, l *eventlog.Log, n int) {
	b.Helper()
	at := time.Now().Add(-time.Duration(n) * 24 * time.Hour / 1000)
	for i := 0; i < n; i += 1000 {
		var events []event.Event
		for k := range 1000 {
			events = append(events, noteAt(i+k, at.Add(time.Duration(i+k)*24*time.Hour/1000)))
		}
		if _, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil }); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.Tidy(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// A bareFile shows what the disk itself takes to make one record durable.
type bareFile struct{ disk.File }

func newBareFile(b *testing.B) bareFile {
	b.Helper()
	f, err := disk.OS.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		err = disk.Preallocate(f, 1<<20)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return bareFile{f}
}

func (f bareFile) write(b *testing.B, i int) {
	if _, err := f.WriteAt([]byte(prose[:500]+prose), int64(i%512)*2048); err != nil {
		b.Fatal(err)
	}
	if err := f.Datasync(); err != nil {
		b.Fatal(err)
	}
}

// spans are measured times.
type spans []time.Duration

func (s *spans) measure(f func()) {
	start := time.Now()
	f()
	*s = append(*s, time.Since(start))
}

func (s spans) report(b *testing.B, name string) {
	slices.Sort(s)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(s[len(s)*p/100].Microseconds())/1000, fmt.Sprintf("ms/%s-p%d", name, p))
	}
}

// BenchmarkAppend is one writer, beside a bare fdatasync of as many bytes in the same minute.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{0, 100_000} {
		b.Run(fmt.Sprint("after=", n), func(b *testing.B) {
			l, bare := filled(b, n), newBareFile(b)
			var appends, syncs spans
			for i := range b.N {
				e := noteAt(i, time.Now())
				b.StopTimer()
				syncs.measure(func() { bare.write(b, i) })
				b.StartTimer()
				appends.measure(func() {
					_, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
					if err != nil {
						b.Fatal(err)
					}
				})
			}
			appends.report(b, "append")
			syncs.report(b, "fdatasync")
		})
	}
}

// BenchmarkGroup is a writer who saves several events at once, as the agent does for those who wait together.
func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprint("events=", n), func(b *testing.B) {
			l := filled(b, 0)
			var busy time.Duration
			for i := range b.N {
				var events []event.Event
				for k := range n {
					events = append(events, noteAt(i*n+k, time.Now()))
				}
				start := time.Now()
				if _, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil }); err != nil {
					b.Fatal(err)
				}
				busy += time.Since(start)
			}
			b.ReportMetric(float64(b.N*n)/busy.Seconds(), "events/s")
		})
	}
}
