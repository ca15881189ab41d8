package intake

import (
	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
)

// The rules of form. Rules of content come from the caller.
const (
	RuleCommit      = "commit-form"      // the commit's bytes are not the ones its event makes
	RuleRoot        = "foreign-history"  // another first commit than the space's
	RuleMerge       = "merge-form"       // not the one merge of its parents
	RuleAppendOnly  = "append-only"      // changes or removes what is there, or adds more than one file
	RulePath        = "path"             // a file where no event belongs
	RuleEvent       = "event-form"       // the file is not a canonical event
	RuleSpace       = "space"            // the event names another space
	RuleRef         = "ref"              // the event was not written on the branch it is pushed to
	RuleSignature   = "signature"        // missing or wrong
	RuleNewer       = "newer-schema"     // written by a newer cairn
	RuleUnreachable = "unreachable"      // no commit accounts for the object
	RuleObject      = "object-form"      // a kind of object, or a tree, that no space holds
	RuleMissing     = "missing-object"   // refers to an object that did not come along
	RulePurged      = "purged"           // an event that was purged from the space
	RuleConflict    = "conflicting-path" // one event id with two contents
)

// A Finding is one reason to refuse.
type Finding struct {
	Rule   string
	Field  string        // of the event or the commit, if it is about one
	Commit plumbing.Hash // that brought it; zero for an object by itself
	Object plumbing.Hash // the object itself
	Path   string        // of the event's file; empty unless it has the proper form
	Event  event.ID      // empty unless the path names one
	Hint   string        // what the sender can do
	// Content says that the caller's judgement found it in what is said, as
	// against the form, which is judged here.
	Content bool
}

// MaxFindings is how many findings a Report lists, not counted those in what
// events say. A few kilobytes can hold millions of faults.
const MaxFindings = 1000

// A Report is what Check found.
type Report struct {
	Events   []event.ID // that would be new, in the order of their commits
	Commits  int
	Findings []Finding // none is left out unless there are MaxFindings
}
