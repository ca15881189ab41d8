package catchup

import (
	"context"
	"fmt"
	"sync"

	"cairn/agent/projection"
	"cairn/sync/eventlog"
)

// A Space is what is derived of one space's log. It is safe for concurrent
// use.
type Space struct {
	name   string
	log    Log
	keeper *Keeper
	facts  *facts

	indexing sync.Mutex // one step of this space at a time; taken before any lock of facts
	checked  bool       // that rows and facts are as many; guarded by indexing
	follow   chore      // see LevelSoon
	placing  sync.Mutex // one gives rows their vectors at a time; taken before indexing

	mu      sync.Mutex
	indexed projection.Mark // up to which the index is known to be
	follows Following
	recent  recent

	unplaced unplaced // guarded by mu, but for its chore
}

// Name is the name of the space.
func (s *Space) Name() string { return s.name }

// Facts calls fn with the facts as they are now. fn may only read, must be
// quick, and must not call the Space.
func (s *Space) Facts(fn func(*projection.Set)) { s.facts.read(fn) }

// Damaged lists the events that were left out because the log does not hold
// their bytes as they were.
func (s *Space) Damaged() []*eventlog.CorruptError { return s.facts.aside() }

// Mark says how far the facts are.
func (s *Space) Mark() projection.Mark { return s.facts.at() }

// Indexed is how many of the space's events the index covers.
func (s *Space) Indexed() (int, error) {
	m, err := s.keeper.access.mark(s.name)
	return m.Events, err
}

// IsLevel says whether facts and index are level with the log. It reads the
// log's head and little else.
func (s *Space) IsLevel() (bool, error) {
	head, err := s.log.Head()
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts.at().Tree == head.Tree && s.indexed.Tree == head.Tree, nil
}

// LevelFacts brings the facts at least to a head that the log has had, such as
// one that the caller holds the log's lock on.
func (s *Space) LevelFacts(ctx context.Context, head eventlog.Head) error {
	if s.facts.at().Commit == head.Commit {
		return nil
	}
	return s.levelFacts(ctx)
}

func (s *Space) levelFacts(ctx context.Context) error {
	if err := s.facts.level(ctx, s.log, s.added); err != nil {
		return fmt.Errorf("read the log of space %s: %w", s.name, err)
	}
	return nil
}
