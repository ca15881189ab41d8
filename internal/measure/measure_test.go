package measure_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/measure"
)

// upTo is 1 to n milliseconds, the longest first.
func upTo(n int) measure.Times {
	var t measure.Times
	for i := n; i > 0; i-- {
		t = append(t, time.Duration(i)*time.Millisecond)
	}
	return t
}

func TestPercentiles(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		times measure.Times
		p     float64
		want  time.Duration
	}{
		{"of nothing", nil, 50, 0},
		{"of one, the middle", upTo(1), 50, ms},
		{"of one, the tail", upTo(1), 99, ms},
		{"of two, the middle is the lower", upTo(2), 50, ms},
		{"of three, the middle", upTo(3), 50, 2 * ms},
		{"of ten, the middle", upTo(10), 50, 5 * ms},
		{"of ten, the tail is the slowest", upTo(10), 95, 10 * ms},
		{"of twenty, the tail leaves one out", upTo(20), 95, 19 * ms},
		{"of a hundred, the middle", upTo(100), 50, 50 * ms},
		{"of a hundred, p95", upTo(100), 95, 95 * ms},
		{"of a hundred, p99", upTo(100), 99, 99 * ms},
		{"of a thousand, p99", upTo(1000), 99, 990 * ms},
		{"all of them", upTo(7), 100, 7 * ms},
		{"nearly none of them", upTo(7), 0.001, ms},
		{"equal times", measure.Times{ms, ms, ms}, 95, ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.times.Percentile(c.p); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPercentilesKeepTheOrderOfTheTimes(t *testing.T) {
	times := upTo(9)
	times.Percentile(50)
	if !slices.Equal(times, upTo(9)) {
		t.Errorf("they were sorted in place: %v", times)
	}
}

// At least p percent of the times do not exceed the percentile, and fewer than
// that are below it.
func TestAPercentileIsTheSmallestThatCoversItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := measure.Times(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 50).Draw(t, "ns"))
		}), 1, 200).Draw(t, "times"))
		p := rapid.SampledFrom([]float64{1, 25, 50, 95, 99, 100}).Draw(t, "p")
		got := times.Percentile(p)
		var upTo, below int
		for _, d := range times {
			if d <= got {
				upTo++
			}
			if d < got {
				below++
			}
		}
		share := p / 100 * float64(len(times))
		if float64(upTo) < share || float64(below) >= share {
			t.Fatalf("%v: %d of %d are at most that, %d less", got, upTo, len(times), below)
		}
	})
}

func TestARatioNeedsAPeer(t *testing.T) {
	ours, peer := measure.NewRow("ours", upTo(4)), measure.NewRow("peer", upTo(8))
	if r := ours.Beside(peer); r.Ratio != 0.5 || r.Peer != "peer" {
		t.Errorf("beside a peer: %+v", r)
	}
	if r := ours.Beside(measure.Row{}); r.Ratio != 0 || r.Peer != "" {
		t.Errorf("beside nobody: %+v", r)
	}
}

func report() measure.Report {
	return measure.Report{
		Bench: "note", Machine: measure.Machine{OS: "plan9", Arch: "mips", CPUs: 3}, Notes: 7,
		Rows: []measure.Row{
			measure.NewRow("slow", upTo(4)).Beside(measure.NewRow("quick", upTo(2))),
			measure.NewRow("many", upTo(2)).At(30, "events/s", 2*time.Second),
		},
		Remarks: []string{"nothing else"},
	}
}

func TestTheTableSaysEverything(t *testing.T) {
	var b strings.Builder
	report().WriteTable(&b)
	const want = `note on plan9/mips with 3 CPUs, 7 notes
      n  p50 ms  p95 ms  p99 ms  ratio         rate
slow  4  2.000   4.000   4.000   2.00 x quick  
many  2  1.000   2.000   2.000                 15.0 events/s
note: nothing else
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTheJSONHasThePromisedMembers(t *testing.T) {
	b, err := json.Marshal(report())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"bench":"note","machine":{"os":"plan9","arch":"mips","cpus":3},"notes":7,"rows":[` +
		`{"name":"slow","n":4,"p50_ms":2,"p95_ms":4,"p99_ms":4,"ratio":2,"peer":"quick"},` +
		`{"name":"many","n":2,"p50_ms":1,"p95_ms":2,"p99_ms":2,"rate":15,"unit":"events/s"}],` +
		`"remarks":["nothing else"]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestAnAmountAndItsPeer(t *testing.T) {
	git := measure.Amount{Name: "git", Value: 1400, Unit: "bytes"}
	r := measure.Report{Bench: "store", Rows: []measure.Row{}, Amounts: []measure.Amount{
		measure.Amount{Name: "a note", Value: 1050, Unit: "bytes"}.Beside(git), git.Beside(measure.Amount{}),
	}}
	b, err := json.Marshal(r.Amounts)
	const want = `[{"name":"a note","value":1050,"unit":"bytes","ratio":0.75,"peer":"git"},{"name":"git","value":1400,"unit":"bytes"}]`
	if err != nil || string(b) != want {
		t.Errorf("got  %s, %v\nwant %s", b, err, want)
	}
	var table strings.Builder
	r.WriteTable(&table)
	for _, line := range []string{"0.75 x git  1050.0 bytes", "1400.0 bytes"} {
		if !strings.Contains(table.String(), line) {
			t.Errorf("%q is missing in\n%s", line, table.String())
		}
	}
}
