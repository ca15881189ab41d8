package repository

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/gitwire"
)

// ForMain is where a push is joined with what the hub has. It is never shown.
const ForMain = "refs/for/main"

// A no is why one ref of a push is not taken: a few words for git's table of
// refs, and what to do instead. It names no ref that the client made up.
type no struct {
	rule   string
	reason string
	advice string
	event  event.ID // if one event is to blame
}

var (
	noDelete = &no{rule: "no-delete", reason: "nothing can be deleted here", advice: "nothing can be deleted here: use cairn redact or cairn archive; the history stays"}
	noTag    = &no{rule: "ref", reason: "tags are not taken", advice: "tags are not taken: push the branch alone, with git push HUB main and without --tags or --mirror"}
	noHead   = &no{rule: "ref", reason: "HEAD is not a branch", advice: "HEAD is not a branch: run git switch main, then git push HUB main"}
	noBranch = &no{rule: "ref", reason: "only main is taken", advice: "this hub has one branch: push it with git push HUB main, or have it joined with git push HUB HEAD:refs/for/main"}
	noOther  = &no{rule: "ref", reason: "only main is taken", advice: "notes, replacements and other refs are not taken: push the branch alone, with git push HUB main and without --mirror"}
	noSecond = &no{rule: "ref", reason: "one ref at a time", advice: "push refs/heads/main or refs/for/main, not both at once"}
	noStale  = &no{rule: hubwire.RuleStale, reason: "the hub's main has moved", advice: "the hub's main has moved: run cairn sync, or let the hub join both with git push HUB HEAD:refs/for/main"}
	noForce  = &no{rule: "fast-forward", reason: "not a fast-forward", advice: "history is only ever added to: run cairn sync, or let the hub join both with git push HUB HEAD:refs/for/main"}
	noBusy   = &no{rule: "busy", reason: "another program moved main", advice: "another program moved the hub's main at that moment: push again"}
	noPurge  = &no{rule: "busy", reason: "fetch first: events were purged", advice: "events were purged from the space at that moment: run cairn sync, or fetch, then push again"}
	noWith   = &no{rule: "ref", reason: "refused because of the others"}
)

// checkCommands judges what can be judged without objects. It returns the one
// command to carry out, and what is wrong with each; nil is nothing.
func checkCommands(commands []gitwire.Command, head plumbing.Hash) (gitwire.Command, []*no) {
	nos := make([]*no, len(commands))
	var chosen gitwire.Command
	refused := false
	for i, c := range commands {
		nos[i] = checkCommand(c, head)
		if nos[i] == nil && chosen.Ref != "" {
			nos[i] = noSecond
		}
		if nos[i] == nil {
			chosen = c
		}
		refused = refused || nos[i] != nil
	}
	// A push is taken whole or not at all.
	for i := range nos {
		if refused && nos[i] == nil {
			nos[i] = noWith
		}
	}
	return chosen, nos
}

func checkCommand(c gitwire.Command, head plumbing.Hash) *no {
	if c.New.IsZero() {
		return noDelete
	}
	switch {
	case c.Ref == event.MainRef && c.Old != head, c.Ref == ForMain && !c.Old.IsZero():
		return noStale
	case c.Ref == event.MainRef, c.Ref == ForMain:
		return nil
	case c.Ref == "HEAD", c.Ref == "refs/heads/HEAD", c.Ref == "refs/for/HEAD":
		return noHead
	case strings.HasPrefix(c.Ref, "refs/tags/"):
		return noTag
	case strings.HasPrefix(c.Ref, "refs/heads/"), strings.HasPrefix(c.Ref, "refs/for/"):
		return noBranch
	}
	return noOther
}
