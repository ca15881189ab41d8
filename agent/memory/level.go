package memory

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
)

// A Level says how far the facts and the index of a space are.
type Level struct {
	Head    plumbing.Hash // of the log
	Events  int           // in the log
	Indexed int           // of them covered by the index; 0 while there is none
}

// Level is how far a space is now.
func (s *Service) Level(ctx context.Context, name string) (Level, error) {
	sp, err := s.space(name)
	if err != nil {
		return Level{}, err
	}
	head, err := sp.log.Head()
	if err != nil {
		return Level{}, problemOf(err)
	}
	if err := sp.kept.LevelFacts(ctx, head); err != nil {
		return Level{}, problemOf(err)
	}
	l := Level{Head: head.Commit}
	sp.kept.Facts(func(set *projection.Set) { l.Events = set.Count() })
	if l.Indexed, err = sp.kept.Indexed(); err != nil {
		s.troubled(err)
		l.Indexed = 0
	}
	return l, nil
}
