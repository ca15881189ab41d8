package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/agent/catchup"
	"cairn/internal/problem"
)

// patience is how long an answer waits for what is still catching up.
const patience = 2 * time.Second

func (s *Service) levelAll(ctx context.Context, sp *space) error { return sp.kept.Level(ctx) }

// catchUp brings spaces level with their logs, for as long as an answer can
// wait, and says in words what is not.
func (s *Service) catchUp(ctx context.Context, spaces []*space, level func(*Service, context.Context, *space) error) []string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var notes []string
	for _, sp := range spaces {
		if there, err := sp.kept.IsLevel(); err == nil && there {
			continue
		}
		if err := s.waitFor(ctx, func(ctx context.Context) error { return level(s, ctx, sp) }); err != nil {
			notes = append(notes, s.lateness(sp, err))
		}
	}
	return notes
}

// waitFor runs work that goes on when nobody waits for it any more.
func (s *Service) waitFor(ctx context.Context, work func(context.Context) error) error {
	done := make(chan error, 1)
	s.mu.RLock()
	closed := s.closed
	if !closed {
		s.work.Go(func() { done <- work(s.ctx) })
	}
	s.mu.RUnlock()
	if closed {
		return catchup.ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return catchup.ErrBehind
	}
}

// lateness says what an answer lacks; it never fails one.
func (s *Service) lateness(sp *space, err error) string {
	if errors.Is(err, catchup.ErrBehind) {
		return s.whyBehind()
	}
	return fmt.Sprintf("space %s cannot be read further: %s", sp.name, problem.Of(Problem(err)).Message)
}

func (s *Service) whyBehind() string {
	if p := s.keeper.Progress(); p.Running {
		return fmt.Sprintf("the search index is being rebuilt (%d of %d events); some notes may be missing", p.Done, p.Total)
	}
	return "the search index is still catching up; the newest notes may be missing"
}

func joinNotes(notes []string) string {
	var out []string
	for _, n := range notes {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return strings.Join(out, "; ")
}
