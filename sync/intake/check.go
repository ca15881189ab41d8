package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/merge"
	"cairn/sync/purge"
)

// Incoming is what arrived, on top of what is stored: a gitstore.Quarantine.
type Incoming interface {
	gitstore.Reader
	// Number reports whether the object itself arrived, and if so gives a number
	// that no other has, from 0 up without great gaps.
	Number(plumbing.Hash) (int, bool)
	// Each calls the function with every object that arrived, once.
	Each(context.Context, func(gitstore.Object) error) error
}

// Options are what the caller knows and how it judges. Every function may be
// nil.
type Options struct {
	Space commitform.Space
	// Admit judges a well-formed, signed event. It sets Rule, Field and Hint.
	Admit func(event.Event) []Finding
	// Raw judges the bytes of an object as they are: of each tree and tag, of
	// each blob that Admit has not seen as an event, and of each commit but
	// those that are, byte for byte, what a taken event or two parents make:
	// they have no word of their own. A file that is an event all the same
	// comes without its signature. It sets Rule, Field and Hint.
	Raw func(kind plumbing.ObjectType, data []byte) []Finding
	// Known says whether an object was stored before. One that comes again
	// without a commit that needs it is scanned and otherwise ignored.
	Known func(plumbing.Hash) (bool, error)
	// KeepNewer takes events of a newer schema as they are, as a machine does
	// with what its hub accepted, instead of refusing them.
	KeepNewer bool
	// Purged is what is not taken back, in whatever history it comes.
	Purged *purge.Set
	// Records are objects that the caller has checked as the record of purges.
	Records map[plumbing.Hash]bool
}

// Check looks at everything that arrived. tips are the commits that are to
// become heads; what is stored already counts as checked. The error is not a
// finding: the check could not be made.
func Check(ctx context.Context, in Incoming, tips []plumbing.Hash, opt Options) (Report, error) {
	c := &checker{in: in, opt: opt, reached: newMarking(in), judged: newMarking(in), exact: newMarking(in), files: map[plumbing.Hash]Finding{}}
	order, err := c.newCommits(ctx, tips)
	if err != nil {
		return Report{}, err
	}
	for _, h := range order {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		if err := c.checkCommit(h); err != nil {
			return Report{}, fmt.Errorf("check commit %s: %w", h, err)
		}
	}
	c.report.Commits = len(order)
	if err := c.objects(ctx); err != nil {
		return Report{}, err
	}
	return c.report, nil
}

type checker struct {
	in      Incoming
	opt     Options
	reached *marking                  // accounted for by a commit
	judged  *marking                  // blobs that Admit has seen
	exact   *marking                  // commits and trees whose bytes follow from what was found to be right
	files   map[plumbing.Hash]Finding // where the blobs of other events belong
	found   int                       // findings, listed or not
	listed  int                       // of them those that MaxFindings bounds
	report  Report
}

func (c *checker) find(f Finding) {
	c.found++
	if !f.Content || f.Event == "" {
		if c.full() {
			return
		}
		c.listed++
	}
	c.report.Findings = append(c.report.Findings, f)
}

// full says that another finding of form would not be listed: then whatever
// only leads to one need not be looked up.
func (c *checker) full() bool { return c.listed == MaxFindings }

// checkCommit checks one commit whose parents have been checked. What a
// refused commit brought counts as accounted for: the commit is the reason.
func (c *checker) checkCommit(h plumbing.Hash) error {
	o, err := c.in.Object(h)
	if err != nil {
		return err
	}
	parsed, err := history.ParseCommit(o.Data)
	if err != nil {
		c.find(Finding{Rule: RuleCommit, Commit: h, Object: h, Hint: hintClient})
		return nil
	}
	before := c.found
	if err := c.commit(h, o, parsed); err != nil {
		return err
	}
	if c.found == before {
		return nil
	}
	return c.reachBelow(parsed.Tree)
}

func (c *checker) commit(h plumbing.Hash, o gitstore.Object, parsed history.Commit) error {
	switch len(parsed.Parents) {
	case 0:
		return c.root(h, o)
	case 1:
		return c.event(h, o, parsed)
	case 2:
		return c.merge(h, o, parsed)
	}
	c.find(Finding{Rule: RuleMerge, Commit: h, Object: h, Hint: hintClient})
	return nil
}

const (
	hintClient  = "only commits made by cairn are accepted: save the note with cairn and push its own history"
	hintAppend  = "events are only ever added, one to a commit: use cairn redact or archive instead of changing files"
	hintPurged  = "this event was purged from the space and is not taken back: run cairn sync, or in a clone of stock git: git fetch, then git reset --hard to the hub's main"
	hintForeign = "this is the history of another space: clone the hub's, or run cairn join"
)

// root accepts only the space's own first commit.
func (c *checker) root(h plumbing.Hash, o gitstore.Object) error {
	blob := gitstore.NewObject(plumbing.BlobObject, commitform.EncodeSpace(c.opt.Space))
	tree, made, err := gittree.Insert(c.in, plumbing.ZeroHash, commitform.SpaceFile, blob.Hash)
	if err != nil {
		return err
	}
	if !bytes.Equal(o.Data, commitform.Root(tree, c.opt.Space.ID)) {
		c.find(Finding{Rule: RuleRoot, Commit: h, Object: h, Hint: hintForeign})
	}
	c.reach(made, blob.Hash)
	return nil
}

// merge makes the join of the two parents again.
func (c *checker) merge(h plumbing.Hash, o gitstore.Object, parsed history.Commit) error {
	want, trees, err := merge.Commit(c.in, parsed.Parents[0], parsed.Parents[1])
	if conflict, ok := errors.AsType[*gittree.ConflictError](err); ok {
		f := Finding{Rule: RuleConflict, Commit: h, Object: h, Hint: hintAppend}
		f.Event, f.Path = named(conflict.Path)
		c.find(f)
		return nil
	}
	if found, err := c.refused(err, Finding{Rule: RuleMerge, Commit: h, Object: h, Hint: hintClient}); found || err != nil {
		return err
	}
	c.reach(trees)
	if want.Hash != h || parsed.Parents[0] == parsed.Parents[1] || !bytes.Equal(want.Data, o.Data) {
		c.find(Finding{Rule: RuleMerge, Commit: h, Object: h, Hint: hintClient})
		return nil
	}
	c.exact.add(h)
	c.follow(h, parsed.Parents, trees)
	return nil
}

// refused turns an error that lies in the objects themselves into the finding
// f; what remains is an error of this machine.
func (c *checker) refused(err error, f Finding) (bool, error) {
	if err == nil {
		return false, nil
	}
	if _, malformed := errors.AsType[*gittree.MalformedError](err); malformed {
		f.Rule = RuleObject
		c.find(f)
		return true, nil
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		f.Rule = RuleMissing
		c.find(f)
		return true, nil
	}
	return false, err
}

func (c *checker) reach(objects []gitstore.Object, more ...plumbing.Hash) {
	for _, o := range objects {
		c.reached.add(o.Hash)
	}
	for _, h := range more {
		c.reached.add(h)
	}
}

func (c *checker) arrived(h plumbing.Hash) bool {
	_, ok := c.in.Number(h)
	return ok
}

// reachBelow marks whatever arrived of the tree root, well-formed or not.
func (c *checker) reachBelow(root plumbing.Hash) error {
	for todo := []plumbing.Hash{root}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.reached.has(h) || !c.arrived(h) {
			continue
		}
		c.reached.add(h)
		o, err := c.in.Object(h)
		if err != nil {
			return err
		}
		entries, err := gittree.ParseLenient(o.Data)
		if o.Type != plumbing.TreeObject || err != nil {
			continue // a blob, or a tree that was reported as malformed
		}
		for _, e := range entries {
			todo = append(todo, e.Hash)
		}
	}
	return nil
}

// named is path and its event if the path has the proper form, else nothing.
func named(path string) (event.ID, string) {
	if id, ok := commitform.IDAt(path); ok {
		return id, path
	}
	return "", ""
}
