package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"cairn/internal/corpus"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/measure"
	"cairn/sync/eventlog"
)

// AppendCommand is the name of the command that calls Append.
const AppendCommand = "append"

// Append is one of many processes that append to the log in dir. It says a line
// when it is ready, waits for one, appends count events one by one, and writes
// how many nanoseconds each took.
func Append(ctx context.Context, dir, count string, in io.Reader, out io.Writer) (err error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return fmt.Errorf("how many events to append: %q", count)
	}
	l, err := eventlog.Open(disk.OS, dir, team)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s, err := newSeries(team, corpus.Notes(n))
	if err != nil {
		return err
	}
	for i := range s.notes {
		s.notes[i].At = time.Now()
	}
	events, err := s.take(n)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	return appendEach(ctx, l, events, out)
}

func appendEach(ctx context.Context, l *eventlog.Log, events []event.Event, out io.Writer) error {
	times := make(measure.Times, len(events))
	for i, e := range events {
		var err error
		if times[i], err = timed(func() error { return save(ctx, l, e) }); err != nil {
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

// An appender is a process that runs Append.
type appender struct {
	cmd   *exec.Cmd
	start io.WriteCloser
	out   *bufio.Scanner
	said  output
	times measure.Times
	err   error
}

// startAppender returns when the process is ready.
func (s *storeBench) startAppender(count int) (*appender, error) {
	a := &appender{cmd: exec.CommandContext(s.ctx, s.opt.Program, "bench", AppendCommand, s.dir, strconv.Itoa(count))}
	a.cmd.Stderr = &a.said
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.start, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a process that appends: %w", err)
	}
	s.later(a.leave)
	a.out = bufio.NewScanner(out)
	if !a.out.Scan() {
		return nil, a.end()
	}
	return a, nil
}

// leave ends it if it still waits for the start. Otherwise there is nothing to
// do.
func (a *appender) leave() error {
	if err := a.start.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// run lets it append, and returns when it has ended.
func (a *appender) run() {
	_, err := io.WriteString(a.start, "go\n")
	for err == nil && a.out.Scan() {
		var ns int64
		ns, err = strconv.ParseInt(a.out.Text(), 10, 64)
		a.times = append(a.times, time.Duration(ns))
	}
	a.err = errors.Join(err, a.end())
}

func (a *appender) end() error {
	if err := errors.Join(a.out.Err(), a.cmd.Wait()); err != nil {
		return fmt.Errorf("a process that appends: %w: %s", err, a.said.String())
	}
	return nil
}

// processes measures many processes that append at once, each on its own: what
// is left when no agent answers.
func (s *storeBench) processes() error {
	for _, n := range manyWriters {
		s.progress("appending with %d processes", n)
		all := make([]*appender, n)
		for i := range all {
			var err error
			if all[i], err = s.startAppender(max(1, s.opt.Runs/n)); err != nil {
				return err
			}
		}
		times, took, err := runAll(all)
		if err != nil {
			return err
		}
		s.manyRow(fmt.Sprintf("append, %d processes", n), times, took)
		if err := s.tidy(s.log); err != nil {
			return err
		}
	}
	return nil
}

func runAll(all []*appender) (times []measure.Times, took time.Duration, err error) {
	done := make(chan *appender)
	began := time.Now()
	for _, a := range all {
		go func() { a.run(); done <- a }()
	}
	for range all {
		a := <-done
		times, err = append(times, a.times), errors.Join(err, a.err)
	}
	return times, time.Since(began), err
}
