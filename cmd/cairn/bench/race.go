package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"cairn/internal/measure"
)

// whenStarted is what a process of a race does: it says a line when it is ready,
// waits for one, does something n times, and writes how many nanoseconds each
// took.
func whenStarted(in io.Reader, out io.Writer, n int, do func(i int) error) error {
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	times := make(measure.Times, n)
	for i := range n {
		var err error
		if times[i], err = timed(func() error { return do(i) }); err != nil {
			return err
		}
	}
	for _, t := range times {
		if _, err := fmt.Fprintln(out, t.Nanoseconds()); err != nil {
			return err
		}
	}
	return nil
}

// A racer is a process of this program that does whenStarted.
type racer struct {
	cmd   *exec.Cmd
	start io.WriteCloser
	out   *bufio.Scanner
	said  output
	times measure.Times
	err   error
}

// race starts n processes, lets them begin at once, and returns what they
// measured and how long it took until the last had ended.
func (w *work) race(n int, args func(i int) []string) (times []measure.Times, took time.Duration, err error) {
	all := make([]*racer, n)
	for i := range all {
		if all[i], err = w.startRacer(args(i)); err != nil {
			return nil, 0, err
		}
	}
	done := make(chan *racer)
	began := time.Now()
	for _, r := range all {
		go func() { r.run(); done <- r }()
	}
	for range all {
		r := <-done
		times, err = append(times, r.times), errors.Join(err, r.err)
	}
	return times, time.Since(began), err
}

// startRacer returns when the process is ready.
func (w *work) startRacer(args []string) (*racer, error) {
	r := &racer{cmd: exec.CommandContext(w.ctx, w.opt.Program, args...)}
	r.cmd.Stderr = &r.said
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if r.start, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start one of many processes: %w", err)
	}
	w.later(r.leave)
	r.out = bufio.NewScanner(out)
	if !r.out.Scan() {
		return nil, r.end()
	}
	return r, nil
}

// leave ends it if it still waits for the start. Otherwise there is nothing to
// do.
func (r *racer) leave() error {
	if err := r.start.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// run lets it begin, and returns when it has ended.
func (r *racer) run() {
	_, err := io.WriteString(r.start, "go\n")
	for err == nil && r.out.Scan() {
		var ns int64
		ns, err = strconv.ParseInt(r.out.Text(), 10, 64)
		r.times = append(r.times, time.Duration(ns))
	}
	r.err = errors.Join(err, r.end())
}

func (r *racer) end() error {
	if err := errors.Join(r.out.Err(), r.cmd.Wait()); err != nil {
		return fmt.Errorf("one of many processes: %w: %s", err, r.said.String())
	}
	return nil
}
