package measure

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"
)

// A Report is what one benchmark found out.
type Report struct {
	Bench   string   `json:"bench"`
	Machine Machine  `json:"machine"`
	Notes   int      `json:"notes,omitempty"` // that were stored, if that matters
	Rows    []Row    `json:"rows"`
	Amounts []Amount `json:"amounts,omitempty"`
	Remarks []string `json:"remarks,omitempty"` // such as what could not be measured here
}

// A Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// ThisMachine is the one that this process runs on.
func ThisMachine() Machine { return Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU()} }

// A Row is one thing that was measured.
type Row struct {
	Name string  `json:"name"`
	N    int     `json:"n"` // runs
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	// Ratio is P50 divided by that of the row named Peer; zero without a peer.
	Ratio float64 `json:"ratio,omitempty"`
	Peer  string  `json:"peer,omitempty"`
	// Rate is how much was done in a second, in Unit; zero where that says
	// nothing new.
	Rate float64 `json:"rate,omitempty"`
	Unit string  `json:"unit,omitempty"`
}

// NewRow sums up the times of one thing.
func NewRow(name string, t Times) Row {
	return Row{
		Name: name, N: len(t),
		P50: millis(t.Percentile(50)), P95: millis(t.Percentile(95)), P99: millis(t.Percentile(99)),
	}
}

// Beside is r with its ratio to a peer. A peer that did not run gives none.
func (r Row) Beside(peer Row) Row {
	if peer.P50 > 0 {
		r.Ratio, r.Peer = r.P50/peer.P50, peer.Name
	}
	return r
}

// At is r with a rate: so much was done in that time.
func (r Row) At(much float64, unit string, in time.Duration) Row {
	if in > 0 {
		r.Rate, r.Unit = much/in.Seconds(), unit
	}
	return r
}

// An Amount is something that was measured other than in time, such as memory
// or room on disk.
type Amount struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Ratio is Value divided by that of the amount named Peer; zero without a
	// peer.
	Ratio float64 `json:"ratio,omitempty"`
	Peer  string  `json:"peer,omitempty"`
}

// Beside is a with its ratio to a peer. A peer that was not measured gives
// none.
func (a Amount) Beside(peer Amount) Amount {
	if peer.Value > 0 {
		a.Ratio, a.Peer = a.Value/peer.Value, peer.Name
	}
	return a
}

// WriteTable writes the report for people. A failing w ends it silently: it is
// the terminal, and there is nobody left to tell.
func (r Report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "%s on %s/%s with %d CPUs", r.Bench, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs)
	if r.Notes > 0 {
		fmt.Fprintf(w, ", %d notes", r.Notes)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tn\tp50 ms\tp95 ms\tp99 ms\tratio\trate")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%s\t%s\n", row.Name, row.N, row.P50, row.P95, row.P99, ratio(row.Ratio, row.Peer), row.rate())
	}
	for _, a := range r.Amounts {
		fmt.Fprintf(t, "%s\t\t\t\t\t%s\t%s\n", a.Name, ratio(a.Ratio, a.Peer), strconv.FormatFloat(a.Value, 'f', 1, 64)+" "+a.Unit)
	}
	t.Flush()
	for _, remark := range r.Remarks {
		fmt.Fprintln(w, "note: "+remark)
	}
}

func ratio(r float64, peer string) string {
	if r == 0 {
		return ""
	}
	return strconv.FormatFloat(r, 'f', 2, 64) + " x " + peer
}

func (r Row) rate() string {
	if r.Rate == 0 {
		return ""
	}
	return strconv.FormatFloat(r.Rate, 'f', 1, 64) + " " + r.Unit
}
