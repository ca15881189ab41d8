package intake

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/history"
)

// newCommits lists the commits that arrived and are reached from the tips,
// parents before children.
func (c *checker) newCommits(ctx context.Context, tips []plumbing.Hash) ([]plumbing.Hash, error) {
	var order []plumbing.Hash
	type step struct {
		commit plumbing.Hash
		done   bool // its parents have been listed
	}
	var stack []step
	for _, t := range tips {
		stack = append(stack, step{commit: t})
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.done {
			order = append(order, s.commit)
			continue
		}
		if c.reached.has(s.commit) || !c.arrived(s.commit) {
			if err := c.present(s.commit); err != nil {
				return nil, err
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.reached.add(s.commit)
		stack = append(stack, step{s.commit, true})
		parents, err := c.parents(s.commit)
		if err != nil {
			return nil, err
		}
		for _, p := range parents {
			stack = append(stack, step{commit: p})
		}
	}
	return order, nil
}

// present reports a commit that is neither here nor came along.
func (c *checker) present(h plumbing.Hash) error {
	if c.reached.has(h) || c.full() {
		return nil
	}
	has, err := c.in.Has(h)
	if err != nil {
		return fmt.Errorf("look for commit %s: %w", h, err)
	}
	if !has {
		c.find(Finding{Rule: RuleMissing, Commit: h, Object: h, Hint: hintClient})
	}
	return nil
}

// followed is how many parents of a commit are looked at. None of any form has
// more than two; one that has hundreds of thousands is refused for it.
const followed = 4

func (c *checker) parents(h plumbing.Hash) ([]plumbing.Hash, error) {
	o, err := c.in.Object(h)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", h, err)
	}
	parsed, err := history.ParseCommit(o.Data)
	if err != nil {
		return nil, nil // checkCommit reports the object
	}
	return parsed.Parents[:min(len(parsed.Parents), followed)], nil
}

// objects looks at every object that arrived as it is, whether a commit
// accounts for it or not: even what is refused for its form is scanned, so
// that the sender learns of everything at once. It stops when no more can be
// listed.
func (c *checker) objects(ctx context.Context) error {
	err := c.in.Each(ctx, func(o gitstore.Object) error {
		if c.full() {
			return errFull
		}
		if c.opt.Records[o.Hash] {
			return nil
		}
		if !c.reached.has(o.Hash) {
			if err := c.stray(o); err != nil {
				return err
			}
		}
		if c.opt.Raw == nil || c.judged.has(o.Hash) || c.exact.has(o.Hash) {
			return nil
		}
		at := c.files[o.Hash]
		at.Object = o.Hash
		if o.Type == plumbing.CommitObject {
			at.Commit = o.Hash
		}
		c.adopt(c.opt.Raw(o.Type, scanned(o)), at)
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return fmt.Errorf("check the objects: %w", err)
	}
	return nil
}

var errFull = errors.New("the report is full")

// stray reports an object that no commit accounts for. One that is stored
// already does no harm.
func (c *checker) stray(o gitstore.Object) error {
	if id, ok := c.opt.Purged.Event(o.Hash); ok {
		c.find(purged(Finding{Object: o.Hash, Event: id, Path: commitform.Path(id)}))
		return nil
	}
	if c.opt.Known != nil {
		known, err := c.opt.Known(o.Hash)
		if err != nil || known {
			return err
		}
	}
	rule := RuleUnreachable
	if o.Type == plumbing.TagObject {
		rule = RuleObject
	}
	c.find(Finding{Rule: rule, Object: o.Hash, Hint: hintClient})
	return nil
}

// scanned is what a scanner should see of an object: an event's signature is
// random and is verified instead.
func scanned(o gitstore.Object) []byte {
	if o.Type != plumbing.BlobObject {
		return o.Data
	}
	e, err := event.Decode(o.Data)
	if err != nil {
		return o.Data
	}
	plain, err := event.Unsigned(e)
	if err != nil {
		return o.Data
	}
	return plain
}
