package intake

import (
	"bytes"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// event checks a commit with one parent: it must add the file of one event.
func (c *checker) event(h plumbing.Hash, o gitstore.Object, parsed history.Commit) error {
	at := Finding{Commit: h, Object: h, Hint: hintClient}
	parent, err := history.ReadCommit(c.in, parsed.Parents[0])
	if found, err := c.refused(err, at); found || err != nil {
		return err
	}
	added, err := c.onlyAddition(parent.Tree, parsed.Tree, &at)
	if err != nil || added.Path == "" {
		return err
	}
	tree, made, err := gittree.Insert(c.in, parent.Tree, added.Path, added.New)
	if found, err := c.refused(err, at); found || err != nil {
		return err
	}
	c.reach(made, added.New)
	if tree != parsed.Tree {
		c.find(with(at, RuleObject, "tree"))
	}
	blob, err := c.in.Object(added.New)
	if found, err := c.refused(err, at); found || err != nil {
		return err
	}
	c.report.Events = append(c.report.Events, at.Event)
	at.Object = added.New
	if c.opt.Purged.Has(at.Event) {
		c.find(purged(at))
		c.files[added.New] = at
		return nil
	}
	c.file(o, tree, parsed.Parents[0], blob.Data, at)
	c.follow(h, parsed.Parents, made)
	if c.opt.Raw != nil && !c.judged.has(added.New) {
		c.files[added.New] = at
	}
	return nil
}

// onlyAddition is the one file that the tree to has more than from. Without
// exactly one, or with anything changed, it reports that and returns none.
func (c *checker) onlyAddition(from, to plumbing.Hash, at *Finding) (gittree.Change, error) {
	var added gittree.Change
	err := gittree.Diff(c.in, from, to, func(ch gittree.Change) error {
		if !ch.Old.IsZero() || added.Path != "" {
			return errMore
		}
		added = ch
		return nil
	})
	more := errors.Is(err, errMore)
	if found, err := c.refused(err, *at); !more && (found || err != nil) {
		return gittree.Change{}, err
	}
	if more || added.Path == "" {
		c.find(Finding{Rule: RuleAppendOnly, Commit: at.Commit, Object: at.Object, Hint: hintAppend})
		return gittree.Change{}, nil
	}
	at.Event, at.Path = named(added.Path)
	if at.Path == "" {
		c.find(Finding{Rule: RulePath, Commit: at.Commit, Object: added.New, Hint: hintClient})
		return gittree.Change{}, nil
	}
	return added, nil
}

// errMore ends a comparison at the first change that is one too many. Ten small
// trees that each name the next one ten times hold ten thousand million paths.
var errMore = errors.New("more than one addition")

// file checks the event's file, and that the commit says what it says.
func (c *checker) file(o gitstore.Object, tree, parent plumbing.Hash, file []byte, at Finding) {
	e, err := event.Decode(file)
	if _, newer := errors.AsType[*event.NewerSchemaError](err); newer {
		c.newer(o, tree, parent, file, at)
		return
	}
	if err != nil {
		f := with(at, RuleEvent, "")
		if invalid, ok := errors.AsType[*event.InvalidError](err); ok {
			f.Field = invalid.Field
		}
		c.find(f)
		return
	}
	before := c.found
	if e.ID != at.Event {
		c.find(with(at, RulePath, "id"))
	}
	if !bytes.Equal(o.Data, commitform.Event(tree, parent, commitform.HeadOf(e))) {
		c.find(with(at, RuleCommit, "message"))
	}
	c.claims(e, at)
	if c.opt.Admit != nil {
		c.judged.add(at.Object)
		c.adopt(c.opt.Admit(e), at)
	}
	if c.found == before {
		c.exact.add(at.Commit)
	}
}

// follow marks the trees of an exact commit: made of the trees of its parents
// and of names that were checked, they say nothing of their own. In a long hour
// they are most of what arrives. A parent that did not arrive was checked when
// it did: a replica publishes nothing unchecked, and a hub lands nothing on a
// commit that is stored and not in its branch (reachesUnchecked there).
func (c *checker) follow(h plumbing.Hash, parents []plumbing.Hash, trees []gitstore.Object) {
	right := func(p plumbing.Hash) bool { return c.exact.has(p) || !c.arrived(p) }
	if !c.exact.has(h) || !right(parents[0]) || !right(parents[len(parents)-1]) {
		return
	}
	for _, tree := range trees {
		c.exact.add(tree.Hash)
	}
}

// newer checks what can be checked of an event from a later format: that its
// commit says no more than such commits do.
func (c *checker) newer(o gitstore.Object, tree, parent plumbing.Hash, file []byte, at Finding) {
	if !c.opt.KeepNewer {
		f := with(at, RuleNewer, "schema")
		f.Hint = "the event was written by a newer cairn: upgrade the hub first"
		c.find(f)
		return
	}
	head, err := commitform.HeadIn(file)
	if err != nil {
		c.find(with(at, RuleEvent, ""))
		return
	}
	if head.ID != at.Event || !bytes.Equal(o.Data, commitform.Event(tree, parent, head)) {
		c.find(with(at, RuleCommit, "message"))
	}
}

// claims checks what the event says of its own place and origin.
func (c *checker) claims(e event.Event, at Finding) {
	if e.Space != c.opt.Space.Name {
		c.find(with(at, RuleSpace, "space"))
	}
	if e.Ref != event.MainRef {
		f := with(at, RuleRef, "ref")
		f.Hint = "the event was written on a detached HEAD or another branch: check out main and save it again"
		c.find(f)
	}
	if err := e.Verify(); err != nil {
		f := with(at, RuleSignature, "sig")
		f.Hint = "only events signed by the device they name are accepted"
		c.find(f)
	}
}

// adopt takes findings of the caller's and says where they are.
func (c *checker) adopt(found []Finding, at Finding) {
	for _, f := range found {
		f.Commit, f.Object, f.Path, f.Event, f.Content = at.Commit, at.Object, at.Path, at.Event, true
		c.find(f)
	}
}

func purged(f Finding) Finding {
	f.Rule, f.Field, f.Hint = RulePurged, "id", hintPurged
	return f
}

func with(f Finding, rule, field string) Finding {
	f.Rule, f.Field = rule, field
	return f
}
