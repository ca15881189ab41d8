package gitstore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// PublishTogether is Publish for several quarantines of one Store at once: all that is in them becomes one pack, an object
// that is in two of them once. It ends none of them: the caller discards each. After an error nothing has been published,
// except when only the last step failed, syncing the directory.
func PublishTogether(all ...*Quarantine) error {
	if len(all) == 1 {
		return all[0].Publish()
	}
	if err := publishTogether(all); err != nil {
		return fmt.Errorf("publish received objects: %w", err)
	}
	return nil
}

func publishTogether(all []*Quarantine) error {
	stored, err := all[0].s.storedSet()
	if err != nil {
		return err
	}
	var list []wanted
	taken := map[plumbing.Hash]bool{}
	for _, q := range all {
		if err := q.usable(); err != nil {
			return err
		}
		own, err := q.choose(q.all(), stored)
		if err != nil {
			return err
		}
		list = append(list, slices.DeleteFunc(own, func(x wanted) bool { return taken[x.hash] })...)
		for _, x := range own {
			taken[x.hash] = true
		}
	}
	if len(list) == 0 {
		return nil
	}
	sortWanted(list)
	_, err = all[0].s.writePack(len(list), func(w *packfmt.Writer) error {
		c := copier{w: w, load: loadFrom(all)}
		return c.copyAll(list)
	})
	return err
}

// loadFrom finds an object in whichever quarantine has it, or in the store.
func loadFrom(all []*Quarantine) func(plumbing.Hash) (Object, error) {
	return func(h plumbing.Hash) (Object, error) {
		for _, q := range all {
			if o, found, err := q.own(h); found || err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
				return o, err
			}
		}
		return all[0].s.Object(h)
	}
}
