package eventlog

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Replay replaces everything after the commit onto by events, with their bytes
// as they are, each as a new commit. It is how a machine's own events move onto
// a hub's history. each calls put for one event after the other, and returns
// the error of put; it may be called again, as Update's fn. expect is the head
// that may be replaced; if the log has moved on, nothing happens and the error
// is ErrBusy.
//
// Nobody can append meanwhile, which for a long history takes a while: without
// the lock a machine that goes on saving would begin again and again.
// However many events there are, only a portion of them is in memory. What a
// replay that breaks off has stored no ref leads to.
func (l *Log) Replay(ctx context.Context, expect, onto plumbing.Hash, each func(put func(Stored) error) error) (Head, error) {
	return l.Update(ctx, func(h Head) (Change, error) {
		if h.Commit != expect {
			return Change{}, ErrBusy
		}
		base, err := l.headAt(h.Ref, onto)
		if err != nil {
			return Change{}, err
		}
		r := &replay{log: l, chain: newChain(l.store, base)}
		if err := each(r.put); err != nil {
			return Change{}, err
		}
		return Change{Tip: r.chain.head.Commit, Objects: r.chain.objects}, l.store.DropCommitGraph()
	})
}

// portion is how many bytes of objects a replay has in memory before it stores
// them.
const portion = 16 << 20

// A replay is a chain of which all but the last portion is stored already.
type replay struct {
	log   *Log
	chain *chain
}

func (r *replay) put(s Stored) error {
	if err := r.chain.addStored(s); err != nil {
		return err
	}
	if r.chain.size < portion {
		return nil
	}
	if _, err := r.log.store.WritePack(r.chain.objects); err != nil {
		return fmt.Errorf("store %d objects: %w", len(r.chain.objects), err)
	}
	r.chain = newChain(r.log.store, r.chain.head)
	return nil
}
