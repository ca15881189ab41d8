package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gittree"
)

// NewObjects returns what a pack must hold for somebody who has all of the haves' history and lacks that of the wants:
// the commits between, parents before children, then the trees and blobs that each of them has and its parents do not
// have at the same path. Each id comes once. r must know every tree of these commits and of their parents.
// Errors: *UnknownError for a want, ctx's, a *gittree.MalformedError, or the Reader's.
func NewObjects(ctx context.Context, r Reader, g *Graph, wants, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	commits, err := g.Between(wants, haves)
	if err != nil {
		return nil, err
	}
	below, err := newBelow(ctx, r, g, commits)
	if err != nil {
		return nil, err
	}
	return append(commits, below...), nil
}

// EachNew is NewObjects for a history that is too long to be listed at once: fn gets the objects piece by piece, of so
// many commits at a time. An id comes once in a piece; one that two branches added may come in two. Errors: those of
// NewObjects, and fn's.
func EachNew(ctx context.Context, r Reader, g *Graph, wants, haves []plumbing.Hash, step int, fn func([]plumbing.Hash) error) error {
	commits, err := g.Between(wants, haves)
	if err != nil {
		return err
	}
	for piece := range slices.Chunk(commits, step) {
		below, err := newBelow(ctx, r, g, piece)
		if err != nil {
			return err
		}
		if err := errors.Join(fn(piece), fn(below)); err != nil {
			return err
		}
	}
	return nil
}

// newBelow lists the trees and blobs that commits have and their parents do not have at the same path.
func newBelow(ctx context.Context, r Reader, g *Graph, commits []plumbing.Hash) ([]plumbing.Hash, error) {
	c := gittree.NewCollector(r)
	for _, h := range commits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree, before, err := g.trees(h)
		if err != nil {
			return nil, err
		}
		if err := c.Add(tree, before...); err != nil {
			return nil, fmt.Errorf("list the new objects of commit %s: %w", h, err)
		}
	}
	return c.Objects(), nil
}
