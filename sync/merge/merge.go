package merge

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// Ancestry answers whether one commit lies in the history of another. A
// *history.Graph that knows both commits does.
type Ancestry interface {
	// Ancestor reports whether a is of, or an ancestor of it.
	Ancestor(a, of plumbing.Hash) (bool, error)
}

// A Result is the head of the joined history.
type Result struct {
	Commit  plumbing.Hash
	Objects []gitstore.Object // to store before the commit is used
	// FastForward says that Commit is one of the two heads, since its history
	// holds the other.
	FastForward bool
}

// Heads joins the histories that end at a and b. Errors:
// *gittree.ConflictError, *gittree.MalformedError, or the reader's.
func Heads(r gitstore.Reader, graph Ancestry, a, b plumbing.Hash) (Result, error) {
	for _, c := range [2][2]plumbing.Hash{{a, b}, {b, a}} {
		inside, err := graph.Ancestor(c[0], c[1])
		if err != nil {
			return Result{}, fmt.Errorf("join %s and %s: %w", a, b, err)
		}
		if inside {
			return Result{Commit: c[1], FastForward: true}, nil
		}
	}
	commit, trees, err := Commit(r, a, b)
	if err != nil {
		return Result{}, fmt.Errorf("join %s and %s: %w", a, b, err)
	}
	return Result{Commit: commit.Hash, Objects: append(trees, commit)}, nil
}

// Commit is the one merge of a and b, and the trees it needs. It does not ask
// whether one holds the other. Errors as for Heads.
func Commit(r gitstore.Reader, a, b plumbing.Hash) (gitstore.Object, []gitstore.Object, error) {
	left, err := history.ReadCommit(r, a)
	if err != nil {
		return gitstore.Object{}, nil, err
	}
	right, err := history.ReadCommit(r, b)
	if err != nil {
		return gitstore.Object{}, nil, err
	}
	tree, made, err := gittree.Union(r, left.Tree, right.Tree)
	if err != nil {
		return gitstore.Object{}, nil, err
	}
	data := commitform.Merge(tree, a, b, max(left.Seconds, right.Seconds))
	return gitstore.NewObject(plumbing.CommitObject, data), made, nil
}
