package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"cairn/internal/corpus"
	"cairn/internal/disk"
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
	return whenStarted(in, out, len(events), func(i int) error { return save(ctx, l, events[i]) })
}

// processes measures many processes that append at once, each on its own: what
// is left when no agent answers.
func (s *storeBench) processes() error {
	for _, n := range manyWriters {
		s.progress("appending with %d processes", n)
		count := strconv.Itoa(max(1, s.opt.Runs/n))
		times, took, err := s.race(n, func(int) []string { return []string{"bench", AppendCommand, s.dir, count} })
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
