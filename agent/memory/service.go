package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
	"cairn/search/embed"
	"cairn/sync/eventlog"
	"cairn/sync/purge"
)

// A Log is what a Service needs of a space's log. *eventlog.Log is one.
type Log interface {
	catchup.Log
	Append(ctx context.Context, build func(eventlog.Head) ([]event.Event, error)) ([]eventlog.Appended, error)
	Event(tree plumbing.Hash, id event.ID) (eventlog.Stored, error)
	CommitsOf(ctx context.Context, head plumbing.Hash, ids []event.ID) (map[event.ID]plumbing.Hash, error)
	Purged() (*purge.Set, error)
}

// Options are what a Service works with.
type Options struct {
	FS   disk.FS
	Home paths.Home // an existing folder
	Key  device.Key // signs what is saved, until Rekey
	// Decide judges every event before it is saved; an error refuses it. The
	// event is complete but for its final id and its signature.
	Decide func(event.Event) error
	// Policy is the number of the policy by which events of a space are judged;
	// nil for 1 everywhere.
	Policy func(space string) int
	// Over says, of a space and a moment, which events are no longer kept then:
	// a function as in projection.View, or nil if all are. nil for all spaces.
	Over func(space string, at time.Time) func(event.ID, event.Kind, event.Classification) bool
	// Embedder gives notes and questions their places; nil gives none.
	Embedder *embed.Source
	// Trouble is told what goes wrong after a save was acknowledged, and in the
	// background. All of it is tried again.
	Trouble func(error)
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// A Service is the memory of one home. It is safe for concurrent use.
type Service struct {
	opt      Options
	key      atomic.Pointer[device.Key]
	keeper   *catchup.Keeper
	ledger   *ledger
	digested digestMemo
	embeds   embedWork
	ids      liveIDs
	ctx      context.Context // ends when the Service is closed
	end      context.CancelFunc
	work     sync.WaitGroup

	mu     sync.RWMutex
	spaces map[string]*space
	closed bool
}

// A space is one log with what is derived of it.
type space struct {
	name  string
	log   Log
	kept  *catchup.Space
	queue queue
}

// Open makes a Service without spaces. The caller attaches the logs, which
// stay the caller's, and closes the Service before them.
func Open(opt Options) (*Service, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Policy == nil {
		opt.Policy = func(string) int { return 1 }
	}
	if opt.Over == nil {
		opt.Over = func(string, time.Time) func(event.ID, event.Kind, event.Classification) bool { return nil }
	}
	if opt.Trouble == nil {
		opt.Trouble = func(error) {}
	}
	s := &Service{opt: opt, spaces: map[string]*space{}}
	s.Rekey(opt.Key)
	var err error
	if s.ledger, err = openLedger(opt.FS, opt.Home.Refused()); err != nil {
		return nil, err
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.keeper = catchup.Open(catchup.Options{
		FS: opt.FS, Index: opt.Home.Index(), Facts: opt.Home.Facts,
		Hidden: s.ledger.withheld, Embedder: opt.Embedder, Trouble: opt.Trouble,
	})
	return s, nil
}

// Rekey makes what is saved from now on signed by another key. What was saved
// keeps its signature.
func (s *Service) Rekey(key device.Key) { s.key.Store(&key) }

// view is how a space looks from here and now.
func (s *Service) view(sp *space) projection.View {
	now := s.opt.Now()
	return projection.View{Now: now, Device: s.key.Load().ID(), Over: s.opt.Over(sp.name, now)}
}

// Attach makes a space known and starts to bring it level in the background.
func (s *Service) Attach(log Log) error {
	kept, err := s.keeper.Add(log)
	if err != nil {
		return Problem(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Problem(catchup.ErrClosed)
	}
	sp := &space{name: kept.Name(), log: log, kept: kept}
	s.spaces[sp.name] = sp
	s.work.Go(func() {
		if err := s.level(s.ctx, sp); err != nil && s.ctx.Err() == nil {
			s.opt.Trouble(err)
		}
	})
	return nil
}

// Spaces lists the names of all spaces, sorted.
func (s *Service) Spaces() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for name := range s.spaces {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// space is the space of that name. The error is a problem.
func (s *Service) space(name string) (*space, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, Problem(catchup.ErrClosed)
	}
	if sp := s.spaces[name]; sp != nil {
		return sp, nil
	}
	p := problem.New(problem.NotFound, "there is no space of that name on this machine")
	if event.ValidSpaceName(name) { // anything else may be a text in the wrong place
		p.Message = fmt.Sprintf("there is no space %q on this machine", name)
	}
	p.Hint = "make it with cairn init --space, or join the hub that has it"
	return nil, p
}

// chosen is the one space of that name, or all of them by name.
func (s *Service) chosen(name string) ([]*space, error) {
	if name != "" {
		sp, err := s.space(name)
		return []*space{sp}, err
	}
	var out []*space
	for _, name := range s.Spaces() {
		sp, err := s.space(name)
		if err != nil {
			return nil, err
		}
		out = append(out, sp)
	}
	return out, nil
}

// level brings everything of a space level. That the index follows later is
// no error.
func (s *Service) level(ctx context.Context, sp *space) error {
	err := sp.kept.Level(ctx)
	if errors.Is(err, catchup.ErrBehind) {
		return nil
	}
	return err
}

// Follow is for whoever changed a space's log other than through the Service,
// such as a merge: it brings facts and index level with the log.
func (s *Service) Follow(ctx context.Context, name string) error {
	sp, err := s.space(name)
	if err != nil {
		return err
	}
	return Problem(s.level(ctx, sp))
}

// Rebuild makes the search index anew from the logs.
func (s *Service) Rebuild(ctx context.Context) error {
	return Problem(s.keeper.Rebuild(ctx))
}

// Progress says how far a rebuild of the index is.
func (s *Service) Progress() catchup.Progress { return s.keeper.Progress() }

// Close waits for saves under way and lets go of everything. Further calls of
// it do nothing.
func (s *Service) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.end()
	s.work.Wait()
	return s.keeper.Close()
}
