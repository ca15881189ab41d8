package proof_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cairn/internal/atomicfile"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/replica"
)

// The repositories of the scenes.
const (
	local  = "local"
	remote = "remote"
)

// scenes are the changes that a machine makes to what it keeps.
var scenes = map[string]scene{
	"append":        {prepare: alone, run: appendTwice},
	"compact":       {prepare: littered, run: compact},
	"first log":     {prepare: nothing, run: create},
	"pull and push": {prepare: apart(home, home), run: exchange, again: exchangeAgain},
	"adopt":         {prepare: apart(home, other), run: exchange, again: exchangeAgain},
	"park":          {prepare: refusable, run: park, again: parkAgain},
}

var (
	home  = commitform.Space{Name: space, ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"}
	other = commitform.Space{Name: space, ID: "01jdyrnk3s8q4b7ymx2v5c6d9f"}
)

func at(root, name string) string { return filepath.Join(root, name+".git") }

func nothing(string, acknowledged) error { return nil }

// logOf makes or opens a log, for one use.
func logOf(fsys disk.FS, dir string, id commitform.Space, use func(*eventlog.Log) error) error {
	l, err := eventlog.Create(fsys, dir, id)
	if err != nil {
		return err
	}
	return errors.Join(use(l), l.Close())
}

// save appends one event for each text, all at once.
func save(l *eventlog.Log, texts ...string) ([]event.Event, error) {
	var events []event.Event
	for _, text := range texts {
		events = append(events, note(text, "laptop"))
	}
	_, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	return events, err
}

// saved is save for a log that is made or opened for it.
func saved(dir string, id commitform.Space, texts ...string) (events []event.Event, err error) {
	err = logOf(quick, dir, id, func(l *eventlog.Log) error {
		events, err = save(l, texts...)
		return err
	})
	return events, err
}

func alone(root string, a acknowledged) error {
	events, err := saved(at(root, local), home, "one", "two")
	a.add(local, events...)
	return err
}

func appendTwice(fsys disk.FS, root string, a acknowledged) error {
	return logOf(fsys, at(root, local), home, func(l *eventlog.Log) error {
		for _, texts := range [][]string{{"alone"}, {"together", "in", "one"}} {
			events, err := save(l, texts...)
			if err != nil {
				return err
			}
			a.add(local, events...)
		}
		return nil
	})
}

// littered is a log with so many packs that joining them is worth it.
func littered(root string, a acknowledged) error {
	return logOf(quick, at(root, local), home, func(l *eventlog.Log) error {
		for n := range 70 {
			events, err := save(l, fmt.Sprint("note ", n))
			if err != nil {
				return err
			}
			a.add(local, events...)
		}
		return nil
	})
}

func compact(fsys disk.FS, root string, _ acknowledged) error {
	return logOf(fsys, at(root, local), home, func(l *eventlog.Log) error {
		stats, err := l.Store().Compact(context.Background())
		if err == nil && stats.Packs < 60 {
			err = fmt.Errorf("little was joined: %+v", stats)
		}
		return err
	})
}

func create(fsys disk.FS, root string, a acknowledged) error {
	return logOf(fsys, at(root, local), home, func(l *eventlog.Log) error {
		events, err := save(l, "the first")
		if err == nil {
			a.add(local, events...)
		}
		return err
	})
}

// apart prepares a machine and a remote that were set up by themselves, or whose histories parted.
func apart(ours, theirs commitform.Space) func(string, acknowledged) error {
	return func(root string, a acknowledged) error {
		mine, err := saved(at(root, local), ours, "mine", "mine too")
		if err != nil {
			return err
		}
		yours, err := saved(at(root, remote), theirs, "theirs", "theirs too")
		a.add(local, mine...)
		a.add(remote, yours...)
		return err
	}
}

// withReplica opens the machine's log and its link to the remote.
func withReplica(fsys disk.FS, root string, refuse event.ID, use func(*replica.Replica) error) error {
	return logOf(fsys, at(root, local), home, func(l *eventlog.Log) error {
		return use(replica.New(replica.Options{
			Log: l, Name: "origin",
			Remote: picky{replica.Path(fsys, at(root, remote)), l, refuse},
			Park: func(_ context.Context, parked []replica.Parked) error {
				for _, p := range parked {
					if err := atomicfile.Write(fsys, parkedAt(root, p.ID), p.Bytes, 0o600); err != nil {
						return err
					}
				}
				return nil
			},
		}))
	})
}

func parkedAt(root string, id event.ID) string { return filepath.Join(root, string(id)+".json") }

func exchange(fsys disk.FS, root string, a acknowledged) error {
	return withReplica(fsys, root, "", func(r *replica.Replica) error {
		ctx := context.Background()
		if _, err := r.Pull(ctx); err != nil {
			return err
		}
		theirs := a[remote]
		a[local] = append(a[local], theirs...)
		if _, err := r.Push(ctx); err != nil {
			return err
		}
		a[remote] = append(theirs, a[local]...)
		return nil
	})
}

// exchangeAgain brings both sides level. What the look at the wreck appended is taken along.
func exchangeAgain(root string) error { return exchange(quick, root, acknowledged{}) }

// A picky remote refuses one event by name, as a hub does.
type picky struct {
	replica.Remote
	log    *eventlog.Log
	refuse event.ID
}

func (p picky) Push(ctx context.Context, o replica.Offer) (replica.Pushed, error) {
	files, err := filesOf(p.log)
	if err != nil {
		return replica.Pushed{}, err
	}
	if p.refuse != "" && files[p.refuse] != "" {
		return replica.Pushed{}, &replica.DeclinedError{Refusals: []hubwire.Refusal{{Event: p.refuse, Rule: "secret"}}}
	}
	return p.Remote.Push(ctx, o)
}

// refused is the text that the remote will not take.
const refused = "not for others"

func refusable(root string, a acknowledged) error {
	if err := apart(home, home)(root, a); err != nil {
		return err
	}
	if err := exchange(quick, root, a); err != nil {
		return err
	}
	events, err := saved(at(root, local), home, "before it", refused, "after it")
	a.add(local, events[0], events[2])
	return errors.Join(err, os.WriteFile(filepath.Join(root, "refuse"), []byte(events[1].ID), 0o600))
}

// park pushes, which takes the refused event out of the log.
func park(fsys disk.FS, root string, a acknowledged) error {
	b, err := os.ReadFile(filepath.Join(root, "refuse"))
	if err != nil {
		return err
	}
	return withReplica(fsys, root, event.ID(b), func(r *replica.Replica) error {
		if _, err := r.Push(context.Background()); err != nil {
			return err
		}
		a[remote] = append(a[remote], a[local]...)
		return nil
	})
}

// parkAgain finds the refused event in the log or in its safe place, whole, and pushes the others.
func parkAgain(root string) error {
	b, err := os.ReadFile(filepath.Join(root, "refuse"))
	if err != nil {
		return err
	}
	id := event.ID(b)
	files, err := filesAt(at(root, local))
	if err != nil {
		return err
	}
	if files[id] == "" {
		parked, err := os.ReadFile(parkedAt(root, id))
		if err != nil {
			return fmt.Errorf("the refused event is neither in the log nor parked: %w", err)
		}
		if e, err := event.Decode(parked); err != nil || e.ID != id {
			return fmt.Errorf("the parked event is damaged: %w", err)
		}
	}
	return park(quick, root, acknowledged{})
}
