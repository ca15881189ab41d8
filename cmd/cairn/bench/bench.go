package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cairn/internal/measure"
)

// A Bench is one measurement.
type Bench struct {
	Name  string
	About string
	// How many notes are stored first and how often each thing is done, unless
	// Options say otherwise.
	Notes, Runs int
	run         func(*work) error
}

// All lists them in the order of the help.
func All() []Bench {
	return []Bench{
		{"note", "Saving through the agent's socket, beside a bare write and sync of the disk", 1_000, 300, note},
		{"ask", "Ten classes of question, in process and through the agent's socket", 10_000, 100, ask},
		{"sync", "From saved on one machine to found on another, and what a push costs the hub", 2_000, 100, syncing},
		{"hub", "A hub and its machines as processes: first push, join, single notes, 300 watchers, beside stock git", 2_000, 40, hubbing},
		{"store", "The log on disk, beside go-git and stock git: append, open, compare, read, fold, merge", 10_000, 200, storing},
		{"gate", "What the check for secrets costs", 100, 500, gate},
		{"mcp", "From the cold start of an MCP server without an index to its first answers", 10_000, 10, mcp},
	}
}

// Options say how to run a Bench.
type Options struct {
	Program  string       // this program, to be started as hub, agent or MCP server
	Notes    int          // 0 is what the Bench has
	Runs     int          // likewise
	Progress func(string) // is told what is being done; nil if nobody wants to know
}

// minNotes is how many notes the questions are drawn from at least.
const minNotes = 100

// Run measures. Nothing is left behind, also when ctx ends before it is done.
func (b Bench) Run(ctx context.Context, opt Options) (r measure.Report, err error) {
	if opt.Notes == 0 {
		opt.Notes = b.Notes
	}
	if opt.Runs == 0 {
		opt.Runs = b.Runs
	}
	opt.Notes = max(opt.Notes, minNotes)
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	w := &work{ctx: ctx, opt: opt}
	w.report = measure.Report{Bench: b.Name, Machine: measure.ThisMachine(), Notes: opt.Notes, Rows: []measure.Row{}}
	if w.dir, err = os.MkdirTemp("", "cairn-bench-"); err != nil {
		return r, fmt.Errorf("make a scratch folder: %w", err)
	}
	err = errors.Join(b.run(w), w.clear())
	if err != nil {
		return r, fmt.Errorf("bench %s: %w", b.Name, err)
	}
	return w.report, nil
}

// work is a Bench at work.
type work struct {
	ctx    context.Context
	opt    Options
	dir    string
	report measure.Report
	undo   []func() error
}

// later does something when the work is over, last things first.
func (w *work) later(do func() error) { w.undo = append(w.undo, do) }

func (w *work) clear() error {
	var err error
	for i := len(w.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, w.undo[i]())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}

func (w *work) rows(r ...measure.Row) { w.report.Rows = append(w.report.Rows, r...) }

func (w *work) amounts(a ...measure.Amount) { w.report.Amounts = append(w.report.Amounts, a...) }

func (w *work) remark(format string, args ...any) {
	w.report.Remarks = append(w.report.Remarks, fmt.Sprintf(format, args...))
}

func (w *work) progress(format string, args ...any) { w.opt.Progress(fmt.Sprintf(format, args...)) }
