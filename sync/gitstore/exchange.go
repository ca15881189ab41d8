package gitstore

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/internal/disk"
)

// leftoverAge is after what time a file that a crash may have left is taken to be just that.
const leftoverAge = 24 * time.Hour

// exchangeStep is how many packs are removed before appends get a turn.
const exchangeStep = 8

// exchange publishes the draft and then removes the packs that were joined into it. It takes the append lock for each step,
// and waits for the disk without it, so that an append that comes meanwhile waits for a moment only. What breaks off in
// between leaves objects in two packs, which harms nothing.
func (s *Store) exchange(ctx context.Context, draft *packDraft, old []*pack, stats *CompactStats) error {
	joined, err := s.enter(ctx, draft, old)
	if err != nil || joined == nil {
		return err
	}
	stats.Packs += len(old)
	stats.Objects += joined.index.Count()
	stats.After += joined.size
	for _, p := range old {
		stats.Before += p.size
	}
	if err := s.fs.SyncDir(s.path("objects", "pack")); err != nil {
		return err
	}
	old = slices.DeleteFunc(slices.Clone(old), func(p *pack) bool { return p.base == joined.base })
	for gone := 0; gone < len(old); gone += exchangeStep {
		part := old[gone:min(gone+exchangeStep, len(old))]
		removed, err := s.leave(ctx, joined, part)
		if err != nil {
			return err
		}
		if removed < len(part) {
			stats.Left = len(old) - gone - removed
			break
		}
	}
	return s.underLock(ctx, func() error {
		if err := s.sweepPackDir(); err != nil {
			return err
		}
		_, err := s.packs.refresh()
		return err
	})
}

// enter publishes the draft beside the packs that it was made of. It returns nil if one of these is gone.
func (s *Store) enter(ctx context.Context, draft *packDraft, old []*pack) (joined *pack, err error) {
	l, err := s.Lock(ctx)
	if err != nil {
		return nil, errors.Join(err, draft.discard())
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	there, err := s.areThere(old)
	if err != nil || !there {
		return nil, errors.Join(err, draft.discard())
	}
	draft.common, draft.late = true, true
	if joined, err = draft.publish(); err != nil {
		return nil, err
	}
	return joined, joined.open()
}

// leave removes packs whose objects are in joined, if that is still there, and says how many. It stops at one that another
// process reads, where the system does not let it go.
func (s *Store) leave(ctx context.Context, joined *pack, old []*pack) (removed int, err error) {
	err = s.underLock(ctx, func() error {
		there, err := s.areThere([]*pack{joined})
		if err != nil || !there {
			return err
		}
		if err := s.removeAll("multi-pack-index*"); err != nil {
			return err
		}
		for _, p := range old {
			if err := s.removePack(p); err != nil {
				if disk.InUse(err) {
					return nil
				}
				return err
			}
			removed++
		}
		return nil
	})
	return removed, err
}

func (s *Store) underLock(ctx context.Context, do func() error) (err error) {
	l, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	return do()
}

// areThere reports whether all packs still are. One that is gone may have been removed with what it held, and that must not
// come back.
func (s *Store) areThere(packs []*pack) (bool, error) {
	for _, p := range packs {
		if _, err := s.fs.Stat(p.packPath()); err != nil {
			return false, ignoreNotExist(err)
		}
	}
	return true, nil
}

// removePack removes a pack's files: what describes it first, lest it be relied on, and the index last, since every git
// ignores an index without a pack.
func (s *Store) removePack(p *pack) error {
	protected, err := s.isProtected(p)
	if err != nil || protected {
		return err
	}
	if err := p.drop(); err != nil {
		return err
	}
	for _, ext := range []string{".bitmap", ".rev", ".pack", ".idx"} {
		if err := ignoreNotExist(s.fs.Remove(p.base + ext)); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes the files in the pack folder whose names match pattern.
func (s *Store) removeAll(pattern string) error {
	entries, err := s.fs.ReadDir(s.path("objects", "pack"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		match, err := filepath.Match(pattern, e.Name())
		if err != nil {
			return err
		}
		if match {
			if err := s.fs.RemoveAll(s.path("objects", "pack", e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepPackDir removes what writers that were killed left in the pack folder: temporary files, indexes whose packs never
// came, our own .keep files. The caller holds the append lock.
func (s *Store) sweepPackDir() error {
	dir := s.path("objects", "pack")
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	for name := range names {
		left, err := s.isLeftover(name, names)
		if err == nil && left {
			err = ignoreNotExist(s.fs.Remove(filepath.Join(dir, name)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) isLeftover(name string, all map[string]bool) (bool, error) {
	stem, isIndex := strings.CutSuffix(name, ".idx")
	loneIndex := isIndex && !all[stem+".pack"]
	draft, err := path.Match("new-*.*-draft", name)
	if err != nil {
		return false, err
	}
	isKeep := strings.HasSuffix(name, ".keep")
	if !loneIndex && !draft && !isKeep {
		return false, nil
	}
	file := s.path("objects", "pack", name)
	info, err := s.fs.Stat(file)
	if err != nil || time.Since(info.ModTime()) < leftoverAge {
		return false, ignoreNotExist(err)
	}
	if !isKeep {
		return true, nil
	}
	mark, err := disk.ReadFile(s.fs, file)
	return string(mark) == keepMark, ignoreNotExist(err)
}
