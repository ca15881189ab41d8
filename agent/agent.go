package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cairn/agent/api"
	"cairn/agent/courier"
	"cairn/agent/hindsight"
	"cairn/agent/localapi"
	"cairn/agent/members"
	"cairn/agent/memory"
	"cairn/agent/teampolicy"
	"cairn/internal/config"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/search/embed"
	"cairn/sync/eventlog"
)

// An Agent is the memory of one home at work: an api.Agent in this process.
// It is safe for concurrent use.
type Agent struct {
	*memory.Service
	opt       Options
	log       *slog.Logger
	key       atomic.Pointer[device.Key]
	team      *teampolicy.Keeper
	hindsight *hindsight.Keeper
	members   *members.Keeper
	courier   *courier.Courier
	owner     *localapi.Owner    // nil when another process owns the home
	work      sync.WaitGroup     // in the background
	stopWork  context.CancelFunc // ends it; nil without any
	door      *door              // nil when no socket is served
	news      chan struct{}      // holds one while the digest may be older than the memory
	backlog   chan struct{}      // holds one while a log wants to be settled

	embedder string // the setting, as it was when the home was opened

	renewing sync.Mutex // held while the device key is replaced; taken before mu

	linking sync.Mutex // held while the hub's spaces are linked; taken before mu

	mu     sync.Mutex // guards config and logs, and is held while they change on disk
	config config.Config
	logs   map[string]*eventlog.Log
	broken map[string]error // spaces that could not be opened, and why
}

var _ api.Agent = (*Agent)(nil)

// open opens everything in a home. owner is nil for work beside another owner.
func open(opt Options, owner *localapi.Owner) (a *Agent, err error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.FS == nil {
		opt.FS = disk.OS
	}
	a = &Agent{
		opt: opt, log: opt.Log, owner: owner,
		logs: map[string]*eventlog.Log{}, broken: map[string]error{}, news: make(chan struct{}, 1), backlog: make(chan struct{}, 1),
	}
	a.team = teampolicy.Open(opt.FS, opt.Home.Policy(), opt.Now)
	a.members = members.Open(opt.FS, opt.Home.Members())
	if err := errors.Join(a.team.State().Trouble, a.members.Trouble()); err != nil {
		a.log.Warn("what was kept of the hub", "err", err)
	}
	if a.config, err = config.Load(opt.FS, opt.Home.Config()); err != nil {
		return nil, a.fault(err)
	}
	a.embedder = a.config.Embedder
	key, err := device.Load(opt.FS, opt.Home.DeviceKey())
	if err != nil {
		return nil, a.fault(err)
	}
	a.key.Store(&key)
	a.Service, err = memory.Open(memory.Options{
		FS: opt.FS, Home: opt.Home, Key: key, Decide: a.mayWrite, Policy: func(space string) int { return a.policyOf(space).Number() }, Over: a.over,
		Embedder: embed.NewSource(a.embedder),
		Trouble:  func(err error) { a.log.Warn("memory", "err", err) }, Now: opt.Now,
	})
	if err != nil {
		return nil, err
	}
	a.hindsight = a.newHindsight()
	a.courier = courier.New(a.carried(), a.log, opt.Now)
	if err := a.openSpaces(); err != nil {
		return nil, errors.Join(err, a.closeParts())
	}
	if err := a.openRemotes(context.Background()); err != nil {
		return nil, errors.Join(err, a.closeParts())
	}
	return a, nil
}

func (a *Agent) fault(err error) error {
	if errors.Is(err, config.ErrNone) || errors.Is(err, device.ErrNoKey) {
		return errNoHome(a.opt.Home)
	}
	return &problem.Problem{Code: problem.Corrupt, Message: err.Error(), Err: err}
}

// openSpaces opens every space in the home. One that cannot be opened does not
// keep the others away: it is named by status and doctor, and by whoever asks
// for it.
func (a *Agent) openSpaces() error {
	entries, err := os.ReadDir(a.opt.Home.Spaces())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list the spaces: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".git")
		if !ok || !event.ValidSpaceName(name) {
			continue
		}
		if err := a.openSpace(name); err != nil {
			a.log.Warn("a space cannot be opened", "space", name, "err", err)
			a.broken[name] = err
		}
	}
	a.findGone()
	return nil
}

// openSpace opens a space that is there. Called with mu held, or before others
// know the agent.
func (a *Agent) openSpace(name string) error {
	l, err := eventlog.Open(a.opt.FS, a.opt.Home.Space(name), name,
		eventlog.WithDurability(a.durability()), eventlog.WithBacklog(a.wakeTidy))
	if err != nil {
		return err
	}
	if r, ok := l.Recovered(); ok {
		a.log.Warn("recovered what was saved last", "space", name, "what", r.String())
	}
	if err := a.Attach(l); err != nil {
		return errors.Join(err, l.Close())
	}
	a.logs[name] = l
	delete(a.broken, name)
	return nil
}

// durability is what a saved note survives in this home.
func (a *Agent) durability() eventlog.Durability {
	if a.config.Durability == config.DurableInProcess {
		return eventlog.Process
	}
	return eventlog.Full
}

// ensureSpace opens a space, and makes it first if it is missing, unless it is
// gone.
func (a *Agent) ensureSpace(name string, id event.ID) (*eventlog.Log, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.notGone(name); err != nil && a.logs[name] == nil {
		return nil, err
	}
	return a.makeAndOpen(name, id)
}

// makeAndOpen is called with mu held.
func (a *Agent) makeAndOpen(name string, id event.ID) (*eventlog.Log, error) {
	if l := a.logs[name]; l != nil {
		return l, nil
	}
	if err := makeSpace(a.opt.FS, a.opt.Home, name, id); err != nil {
		return nil, err
	}
	if err := a.openSpace(name); err != nil {
		return nil, err
	}
	return a.logs[name], nil
}

// CreateSpace makes a space on this machine, also in place of one that is gone.
func (a *Agent) CreateSpace(ctx context.Context, name string) error {
	a.mu.Lock()
	_, err := a.makeAndOpen(name, "")
	a.mu.Unlock()
	if err != nil {
		return asProblem(err)
	}
	return a.relink(ctx, name)
}

// Remember saves one event and lets those know who follow.
func (a *Agent) Remember(ctx context.Context, d api.Draft) (api.Receipt, error) {
	if err := a.usable(d.Space); err != nil {
		return api.Receipt{}, err
	}
	r, err := a.Service.Remember(ctx, d)
	if err == nil && !r.Duplicate {
		a.saved(r)
	}
	return r, err
}

// Import saves many events and lets those know who follow.
func (a *Agent) Import(ctx context.Context, drafts []api.Draft) ([]api.ImportResult, error) {
	results, err := a.Service.Import(ctx, drafts)
	saved := map[string]bool{}
	for _, r := range results {
		if r.Problem == nil && !r.Receipt.Duplicate && !saved[r.Receipt.Space] {
			saved[r.Receipt.Space] = true
			a.saved(r.Receipt)
		}
	}
	return results, err
}

// Close ends everything in order: callers, courier, memory, logs, ownership.
func (a *Agent) Close() error {
	var err error
	if a.door != nil {
		err = a.door.close()
	}
	if a.stopWork != nil {
		a.stopWork()
		a.work.Wait()
	}
	err = errors.Join(err, a.closeParts())
	if a.owner != nil {
		err = errors.Join(err, a.owner.Release())
	}
	return err
}

func (a *Agent) closeParts() error {
	err := a.courier.Close()
	a.keepLastDigest()
	err = errors.Join(err, a.Service.Close())
	a.settleAll()
	for _, l := range a.logs {
		err = errors.Join(err, l.Close())
	}
	return err
}
