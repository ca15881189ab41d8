package memory

import (
	"context"
	"errors"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/disk"
	"cairn/internal/event"
)

// A Level says how far the facts and the index of a space are.
type Level struct {
	Head    plumbing.Hash // of the log
	Events  int           // in the log
	Indexed int           // of them covered by the index; 0 while there is none
	Closed  error         // why the index cannot be read and nobody rebuilds it; nil if it can, or will be
	Damaged []error       // events besides, whose bytes are not what they were
}

// Level is how far a space is now. Where much of the log has to be read first,
// it says after a while what is known by then.
func (s *Service) Level(ctx context.Context, name string) (Level, error) {
	sp, err := s.space(name)
	if err != nil {
		return Level{}, err
	}
	head, err := sp.log.Head()
	if err != nil {
		return Level{}, Problem(err)
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = s.waitFor(wait, func(ctx context.Context) error {
		if sp.kept.Following() != catchup.Unknown {
			return sp.kept.Level(ctx) // what is about to be done anyway is no lag
		}
		return sp.kept.LevelFacts(ctx, head)
	})
	if err != nil && !errors.Is(err, catchup.ErrBehind) {
		return Level{}, Problem(err)
	}
	l := Level{Head: head.Commit, Closed: indexTrouble(err)}
	for _, bad := range sp.kept.Damaged() {
		l.Damaged = append(l.Damaged, bad)
	}
	sp.kept.Facts(func(set *projection.Set) { l.Events = set.Count() })
	if l.Indexed, err = sp.kept.Indexed(); err != nil {
		s.troubled(err)
		l.Indexed = 0
		if why := indexTrouble(err); why != nil {
			l.Closed = why
		}
	}
	return l, nil
}

// indexTrouble is err if only somebody who looks after the disk can end it.
func indexTrouble(err error) error {
	if errors.Is(err, fs.ErrPermission) || disk.Full(err) || disk.ReadOnly(err) {
		return Problem(err)
	}
	return nil
}

// Ahead lists the events of a space that lie so far ahead of this machine's
// clock that others than their writer do not show them yet, oldest first.
func (s *Service) Ahead(name string) (ids []event.ID, err error) {
	sp, err := s.space(name)
	if err != nil {
		return nil, err
	}
	sp.kept.Facts(func(set *projection.Set) { ids = set.Ahead(s.opt.Now()) })
	return ids, nil
}

// Compare looks at every row of the index of a space; it should find none that
// is missing or too many.
func (s *Service) Compare(ctx context.Context, name string) (catchup.Difference, error) {
	sp, err := s.space(name)
	if err != nil {
		return catchup.Difference{}, err
	}
	d, err := sp.kept.Compare(ctx)
	return d, Problem(err)
}
