package aitools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// Apply makes the changes, one file after the other, each whole or not at all. Before a file is touched it is compared with
// what it was when the change was planned: if it differs the error is a *ChangedError. Changes before an error are made and
// recorded. Nothing is done for changes that are Unchanged or Manual. Two calls at a time wait for each other until ctx ends.
func Apply(ctx context.Context, env Env, changes []Change) (err error) {
	if err := env.check(); err != nil {
		return err
	}
	if !needed(env, changes) {
		return nil
	}
	if err := env.fs().MkdirAll(filepath.Join(env.connectDir(), "backup"), 0o700); err != nil {
		return fmt.Errorf("make room for the ledger of connections: %w", err)
	}
	lock, err := disk.Lock(ctx, filepath.Join(env.connectDir(), "ledger.lock"))
	if err != nil {
		return fmt.Errorf("wait for another change of connections: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	a := applier{env: env}
	if a.ledger, err = readLedger(env); err != nil {
		return err
	}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.apply(c); err != nil {
			return err
		}
	}
	return a.finish(changes)
}

// needed tells whether the changes come to anything, so that a repeated connection leaves no trace at all.
func needed(env Env, changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool {
		switch {
		case c.Action != Unchanged && c.Action != Manual:
			return true
		case c.use.remove:
			return env.exists(env.ledgerFile())
		default:
			return c.use.project != ""
		}
	})
}

type applier struct {
	env    Env
	ledger *ledger
}

func (a applier) apply(c Change) error {
	switch {
	case c.Action == Manual:
		return nil
	case c.Action == Unchanged:
		return a.recordUnchanged(c)
	}
	if err := a.compare(c); err != nil {
		return err
	}
	if c.After == nil {
		return a.remove(c)
	}
	return a.write(c)
}

// recordUnchanged takes notice of a file that is gone without our doing.
func (a applier) recordUnchanged(c Change) error {
	if c.record == nil && a.ledger.Files[c.Path] != nil {
		return a.record(c)
	}
	return nil
}

func (a applier) compare(c Change) error {
	now, err := disk.ReadFile(a.env.fs(), c.target)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if missing != (c.Before == nil) || !bytes.Equal(now, c.Before) {
		return &ChangedError{Path: c.Path}
	}
	return nil
}

// write keeps the first contents, then says in the ledger what is about to be inserted, then inserts it. A crash in between
// leaves a record of something that is not there, which does no harm; the other way round the file could not be restored.
func (a applier) write(c Change) error {
	if err := a.backup(c); err != nil {
		return err
	}
	a.noteDirs(filepath.Dir(c.target))
	if !c.use.remove {
		if err := a.record(c); err != nil {
			return err
		}
	}
	if err := a.env.fs().MkdirAll(filepath.Dir(c.target), 0o755); err != nil {
		return fmt.Errorf("make the directory of %s: %w", c.Path, err)
	}
	if err := a.compare(c); err != nil {
		return err
	}
	if err := atomicfile.Write(a.env.fs(), c.target, c.After, c.perm); err != nil {
		return err
	}
	if c.use.remove {
		return a.record(c)
	}
	return nil
}

func (a applier) backup(c Change) error {
	if c.Before == nil || a.ledger.Files[c.Path] != nil {
		return nil
	}
	return atomicfile.Write(a.env.fs(), a.env.backup(hashOf(c.Before)), c.Before, 0o600)
}

func (a applier) record(c Change) error {
	if c.record == nil {
		delete(a.ledger.Files, c.Path)
	} else {
		a.ledger.Files[c.Path] = c.record
	}
	return a.ledger.save(a.env)
}

// noteDirs takes notice of the directories that are about to be made.
func (a applier) noteDirs(dir string) {
	for ; !a.env.exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if !slices.Contains(a.ledger.Dirs, dir) {
			a.ledger.Dirs = append(a.ledger.Dirs, dir)
		}
	}
}

func (a applier) remove(c Change) error {
	if err := a.env.fs().Remove(c.target); err != nil {
		return fmt.Errorf("remove %s: %w", c.Path, err)
	}
	return a.record(c)
}

// removeDirs removes the directories that were made for files as far as they are empty again, the innermost first. It
// reports whether the list became shorter.
func (a applier) removeDirs() bool {
	before := len(a.ledger.Dirs)
	slices.SortFunc(a.ledger.Dirs, func(x, y string) int { return len(y) - len(x) })
	a.ledger.Dirs = slices.DeleteFunc(a.ledger.Dirs, func(dir string) bool {
		entries, err := a.env.fs().ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return true
		}
		// Somebody may put something in at this moment. Then the system refuses, and the directory is theirs.
		return err == nil && len(entries) == 0 && a.env.fs().Remove(dir) == nil
	})
	return len(a.ledger.Dirs) < before
}

// finish records what the tools are connected for now, and clears up behind what was removed.
func (a applier) finish(changes []Change) error {
	news, removed := false, false
	for _, c := range changes {
		news = a.ledger.note(c.use) || news
		removed = removed || c.use.remove
	}
	if removed && a.removeDirs() || news {
		return a.ledger.save(a.env)
	}
	return nil
}
