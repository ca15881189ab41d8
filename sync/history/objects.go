package history

import (
	"context"
	"fmt"

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
	return append(commits, c.Objects()...), nil
}
