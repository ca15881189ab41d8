package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Options say how to run.
type Options struct {
	Program string    // this program, to be started as the MCP server
	Out     io.Writer // gets a line for each step
	Keep    bool      // leave the scratch folder
}

// A Step is what was shown, and how long it took.
type Step struct {
	Name string  `json:"step"`
	Saw  string  `json:"saw"`
	MS   float64 `json:"ms"`
}

// A Result is the whole demo.
type Result struct {
	Steps  []Step  `json:"steps"`
	MS     float64 `json:"ms"`
	Folder string  `json:"folder,omitempty"` // if it was kept
}

// Run shows everything. The error names the first step that did not hold.
func Run(ctx context.Context, opt Options) (r Result, err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "cairn-demo-")
	if err != nil {
		return r, fmt.Errorf("make a scratch folder: %w", err)
	}
	s := &stage{ctx: ctx, opt: opt, dir: dir}
	defer func() {
		err = errors.Join(err, s.close())
		if opt.Keep {
			r.Folder = dir
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	for _, step := range s.script() {
		if err := s.play(step); err != nil {
			return Result{Steps: s.steps}, err
		}
	}
	return Result{Steps: s.steps, MS: millis(time.Since(began))}, nil
}

// act is one step: what it is called, and what it does; it returns what was
// seen.
type act struct {
	name string
	do   func() (string, error)
}

func (s *stage) script() []act {
	return []act{
		{"a hub starts on this machine", s.startHub},
		{"two machines, set up apart, each save a note offline", s.makeMachines},
		{"both join the hub with an invite", s.join},
		{"an AI tool on the laptop saves a note through MCP", s.remember},
		{"an AI tool on the desktop finds it through MCP", s.recall},
		{"what was saved offline is on both machines", s.bothHave},
		{"a secret is refused on the machine, before git", s.secretHere},
		{"the same secret is refused at the hub, pushed by another git client", s.secretAtHub},
		{"and pushed by stock git", s.secretByStockGit},
		{"a note on a detached HEAD is refused on the machine", s.detachedHere},
		{"and at the hub", s.detachedAtHub},
		{"the secret is in no file of the hub or the machines", s.noTrace},
	}
}

func (s *stage) play(a act) error {
	began := time.Now()
	saw, err := a.do()
	took := time.Since(began)
	if err != nil {
		fmt.Fprintf(s.opt.Out, "FAIL %7.1f ms  %s\n", millis(took), a.name)
		return fmt.Errorf("%s: %w", a.name, err)
	}
	s.steps = append(s.steps, Step{Name: a.name, Saw: saw, MS: millis(took)})
	fmt.Fprintf(s.opt.Out, "ok   %7.1f ms  %s\n                 %s\n", millis(took), a.name, cut(saw))
	return nil
}

// cut keeps a line of the terminal readable.
func cut(s string) string {
	const width = 150
	if r := []rune(s); len(r) > width {
		return string(r[:width]) + "…"
	}
	return s
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
