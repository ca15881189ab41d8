package hindsight

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/policy"
	"cairn/sync/eventlog"
)

// Options say what a Keeper looks at and whom it tells.
type Options struct {
	FS      disk.FS
	Path    string // of the file in which it remembers how far it is
	Program string // a name that is another one when the program's own rules are
	// Judge is what the events of a space are judged by at this moment.
	Judge  func(space string) Judge
	Spaces func() map[string]*eventlog.Log
	// Withheld says whether an event is withheld now.
	Withheld func(space string, id event.ID) bool
	// Settle withholds events, and gives back others.
	Settle func(ctx context.Context, space string, hide []Unfit, back []event.ID) error
	Log    *slog.Logger
	// Step is how many events are looked at between two times that what was found
	// is settled; 0 for a good number.
	Step int
}

// An Unfit is an event that may not be shown, and the first reason.
type Unfit struct {
	Event event.ID
	policy.Place
}

// Progress is how far a look at a space is, in events.
type Progress struct {
	Running     bool
	Done, Total int
}

// A Keeper keeps what is withheld in all spaces level with the rules. It is safe
// for concurrent use; one Keeper at a time may use its file.
type Keeper struct {
	opt  Options
	wake chan struct{} // holds one while somebody wants a look

	turn sync.Mutex // one look at a time
	have records    // nil before the first look; guarded by turn

	mu       sync.Mutex
	progress Progress
}

// New makes a Keeper. It looks at nothing by itself.
func New(opt Options) *Keeper {
	if opt.Step == 0 {
		opt.Step = 1000
	}
	return &Keeper{opt: opt, wake: make(chan struct{}, 1)}
}

// Progress is how far the look under way is.
func (k *Keeper) Progress() Progress {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.progress
}

func (k *Keeper) tell(p Progress) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.progress = p
}

// Wake asks for a look soon. It never blocks.
func (k *Keeper) Wake() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Woken holds one value when somebody has called Wake.
func (k *Keeper) Woken() <-chan struct{} { return k.wake }

// Look judges again what is in the spaces whose rules are others than when it
// was judged last. An error is about the spaces that could not be looked at;
// they are tried again by the next Look.
func (k *Keeper) Look(ctx context.Context) (err error) {
	k.turn.Lock()
	defer k.turn.Unlock()
	if k.have == nil {
		if k.have, err = load(k.opt.FS, k.opt.Path); err != nil {
			return fmt.Errorf("read what was judged: %w", err)
		}
	}
	spaces := k.opt.Spaces()
	for _, name := range slices.Sorted(maps.Keys(spaces)) {
		if serr := k.look(ctx, name, spaces[name]); serr != nil {
			err = errors.Join(err, fmt.Errorf("judge space %s again: %w", name, serr))
		}
	}
	return err
}

// look looks at one space until its rules stay the same meanwhile.
func (k *Keeper) look(ctx context.Context, name string, log *eventlog.Log) error {
	for {
		judge := k.opt.Judge(name)
		now := basis{k.opt.Program, judge.Basis()}
		r := k.have.of(name)
		before := r.By
		p := r.due(now)
		if p == nil {
			if before == now {
				return nil
			}
			return k.save()
		}
		// From here on a restart knows that not all was judged by the same.
		r.Pass = p
		if err := k.save(); err != nil {
			return err
		}
		done, err := k.pass(ctx, name, log, judge, p)
		if err != nil {
			return err
		}
		if done {
			r.By, r.Pass = now, nil
			if err := k.save(); err != nil {
				return err
			}
		}
	}
}

func (k *Keeper) save() error { return k.have.save(k.opt.FS, k.opt.Path) }

// pass looks at all that is in a space, from where it was. It is not done if the
// rules have changed meanwhile.
func (k *Keeper) pass(ctx context.Context, name string, log *eventlog.Log, judge Judge, p *pass) (done bool, err error) {
	head, err := settled(ctx, log)
	if err != nil {
		return false, err
	}
	ids, err := log.AddedIDs(ctx, plumbing.ZeroHash, head.Tree)
	if err != nil {
		return false, err
	}
	w := &walk{Keeper: k, space: name, judge: judge, pass: p, total: len(ids)}
	for w.done < len(ids) && ids[w.done] <= p.After {
		w.done++
	}
	defer k.tell(Progress{})
	k.opt.Log.Debug("judging what is there by the rules of now", "space", name, "events", w.total, "rules", p.By.String(), "texts", p.Texts)
	err = log.AddedAfter(ctx, plumbing.ZeroHash, head.Tree, p.After, func(s eventlog.Stored) error { return w.event(ctx, s) })
	if errors.Is(err, errOther) {
		return false, nil
	}
	if err == nil {
		err = w.settle(ctx)
	}
	if err != nil {
		return false, err
	}
	if w.total == 0 {
		return true, nil
	}
	k.opt.Log.Info("judged what is there by the rules of now", "space", name, "events", w.total, "rules", p.By.String(),
		"withheld", w.hidden, "given back", w.returned)
	return true, nil
}

// settled is the head of a log that holds whatever was judged before this call.
// Who takes a history in holds the lock from the judgement to the merge: what is
// merged later is judged by the rules of now.
func settled(ctx context.Context, log *eventlog.Log) (eventlog.Head, error) {
	turn, err := log.Store().LockPending(ctx)
	if err != nil {
		return eventlog.Head{}, err
	}
	head, err := log.Head()
	return head, errors.Join(err, turn.Unlock())
}
