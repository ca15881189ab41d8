package hindsight_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/hindsight"
	"cairn/agent/memory"
	"cairn/internal/corpus"
	"cairn/internal/cputime"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/measure"
	"cairn/internal/paths"
	"cairn/policy"
	"cairn/sync/eventlog"
)

// BenchmarkLookBack looks back over as many events as -benchtime says (100000x), beside their first judging: each read from
// the log, decoded, and judged as an event and as bytes, as when it arrives. An upgrade of the program has all texts looked
// at again, another version of the policy only what it says of events. While the machine looks back a note is saved every
// 20 ms, and before that as many. All is in microseconds; cpu- is processor time for an event, saved- that of a note.
func BenchmarkLookBack(b *testing.B) {
	l := newLongMachine(b)
	var c chain
	c.push(noon, kinds("observe", "claim"))
	c.push(noon.Add(time.Hour), kinds("observe", "lesson"))
	l.hear(&c, 1)
	if _, err := l.log.TidyAtRest(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	l.measure("first", l.judgeFirst)
	l.look()
	calm := l.saving(nil)
	b.ReportMetric(micros(calm.Percentile(50)), "saved-calm-p50")
	b.ReportMetric(micros(calm.Percentile(95)), "saved-calm-p95")
	l.program = "upgraded"
	l.open()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.measure("upgrade", l.look)
	}()
	during := l.saving(ended)
	b.ReportMetric(micros(during.Percentile(50)), "saved-meanwhile-p50")
	b.ReportMetric(micros(during.Percentile(95)), "saved-meanwhile-p95")
	l.hear(&c, 2)
	l.measure("policy", l.look)
}

// BenchmarkAskDuringLookBack asks a memory of as many events as -benchtime says (20000x) while the machine looks back over
// all of them after an upgrade, and before and after that as often: p50 and p95 in microseconds, and how many times as long
// an ask takes meanwhile.
func BenchmarkAskDuringLookBack(b *testing.B) {
	l := newLongMachine(b)
	var c chain
	c.push(noon, kinds("observe", "claim"))
	l.hear(&c, 1)
	l.look()
	ask := l.asker()
	b.ResetTimer()
	calm := ask(time.After(2 * time.Second))
	l.program = "upgraded"
	l.open()
	ended := make(chan time.Time)
	go func() {
		defer close(ended)
		l.measure("upgrade", l.look)
	}()
	during := ask(ended)
	calm = append(calm, ask(time.After(2*time.Second))...)
	for _, p := range []float64{50, 95} {
		b.ReportMetric(micros(calm.Percentile(p)), fmt.Sprintf("calm-p%.0f", p))
		b.ReportMetric(micros(during.Percentile(p)), fmt.Sprintf("meanwhile-p%.0f", p))
		b.ReportMetric(float64(during.Percentile(p))/float64(calm.Percentile(p)), fmt.Sprintf("times-p%.0f", p))
	}
	b.ReportMetric(float64(len(during)), "asks-meanwhile")
}

// asker is a memory of the machine's log, as one that asks question after question until told to stop.
func (l *longMachine) asker() func(until <-chan time.Time) measure.Times {
	s, err := memory.Open(memory.Options{
		FS: quick, Home: paths.Home(l.dir), Key: device.FromPrivate(eventtest.Key("laptop")), Decide: policy.Default().Decide, Trouble: func(err error) { l.b.Error(err) },
	})
	if err == nil {
		l.b.Cleanup(func() {
			if err := s.Close(); err != nil {
				l.b.Error(err)
			}
		})
		err = s.Attach(l.log)
	}
	if err != nil {
		l.b.Fatal(err)
	}
	var questions []corpus.Query
	for _, class := range corpus.Classes() {
		questions = append(questions, corpus.Queries(corpus.Notes(max(l.b.N, 1000)), class, 20, 1)...)
	}
	asked := 0
	ask := func() api.Answer {
		a, err := s.Ask(l.b.Context(), api.Query{Text: questions[asked*7919%len(questions)].Text()})
		if err != nil {
			l.b.Fatal(err)
		}
		asked++
		return a
	}
	for ask().Partial {
		time.Sleep(10 * time.Millisecond)
	}
	return func(until <-chan time.Time) (took measure.Times) {
		for {
			select {
			case <-until:
				return took
			default:
			}
			start := time.Now()
			ask()
			took = append(took, time.Since(start))
		}
	}
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// A longMachine has as many events as its benchmark asks for.
type longMachine struct {
	*machine
	b       *testing.B
	program string
	last    time.Time // of an event
}

func newLongMachine(b *testing.B) *longMachine {
	b.Helper()
	l := &longMachine{machine: newMachine(b, b.TempDir()), b: b, program: "first", last: noon.Add(-365 * 24 * time.Hour)}
	b.Cleanup(l.close)
	for notes := range slices.Chunk(corpus.Notes(b.N), 1000) {
		var batch []event.Event
		for _, n := range notes {
			l.last = l.last.Add(3 * time.Minute)
			batch = append(batch, note(l.last, n.Text))
		}
		if _, err := l.log.Append(b.Context(), func(eventlog.Head) ([]event.Event, error) { return batch, nil }); err != nil {
			b.Fatal(err)
		}
	}
	l.open()
	return l
}

// open is the machine's keeper, as a program of that name has it.
func (l *longMachine) open() {
	l.looks = hindsight.New(hindsight.Options{
		FS: quick, Path: filepath.Join(l.dir, "judged.json"), Program: l.program,
		Judge:    func(string) hindsight.Judge { return l.judge() },
		Spaces:   func() map[string]*eventlog.Log { return map[string]*eventlog.Log{space: l.log} },
		Withheld: func(_ string, id event.ID) bool { return l.withheld[id] },
		Settle:   l.settle, Log: slog.New(slog.DiscardHandler),
	})
}

// judgeFirst judges all that is there as it was judged when it arrived.
func (l *longMachine) judgeFirst() {
	head, err := l.log.Head()
	if err != nil {
		l.b.Fatal(err)
	}
	by := l.team.Policy()
	err = l.log.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		if s.Err != nil {
			return s.Err
		}
		by.DecideRawIn(space, policy.Blob, s.Bytes)
		return by.Decide(s.Event)
	})
	if err != nil {
		l.b.Fatal(err)
	}
}

// measure reports what it takes for each event.
func (l *longMachine) measure(name string, do func()) {
	start, cpu := time.Now(), l.used()
	do()
	each := func(d time.Duration) float64 { return micros(d) / float64(l.b.N) }
	l.b.ReportMetric(each(time.Since(start)), name)
	l.b.ReportMetric(each(l.used()-cpu), "cpu-"+name)
}

func (l *longMachine) used() time.Duration {
	d, err := cputime.Of(os.Getpid())
	if err != nil {
		l.b.Fatal(err)
	}
	return d
}

// saving saves notes until something has ended, or a hundred.
func (l *longMachine) saving(ended <-chan struct{}) (took measure.Times) {
	for {
		select {
		case <-ended:
			return took
		case <-time.After(20 * time.Millisecond):
		}
		l.last = l.last.Add(time.Minute)
		e := note(l.last, "saved meanwhile")
		start := time.Now()
		l.add(e)
		if took = append(took, time.Since(start)); ended == nil && len(took) == 100 {
			return took
		}
	}
}
