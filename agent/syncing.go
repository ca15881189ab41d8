package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/agent/courier"
	"cairn/agent/memory"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
	"cairn/sync/intake"
	"cairn/sync/purge"
	"cairn/sync/replica"
)

// Sync exchanges events with the remotes now.
func (a *Agent) Sync(ctx context.Context, req api.SyncRequest) ([]api.SyncResult, error) {
	if req.Space != "" {
		if err := a.usable(req.Space); err != nil {
			return nil, err
		}
	}
	links := a.courier.Links(req.Space, req.Remote)
	results := a.unsyncable(req)
	if len(links)+len(results) == 0 && (req.Space != "" || req.Remote != "") {
		return nil, a.noRemote(ctx, req)
	}
	for _, l := range links {
		r, err := l.Exchange(ctx, req.Direction)
		if err != nil {
			r.Problem = problem.Of(a.linkProblem(l, err))
		}
		results = append(results, r)
	}
	return results, nil
}

// noRemote says what of a request is not there: the space, or its remote.
func (a *Agent) noRemote(ctx context.Context, req api.SyncRequest) error {
	p := problem.New(problem.NotFound, "there is no such remote")
	p.Hint = "\"cairn remote list\" shows those there are"
	if req.Space == "" {
		return p
	}
	if _, err := a.Ahead(req.Space); err != nil {
		return err
	}
	p.Message = "space " + req.Space + " has no such remote"
	if req.Remote == "" {
		p.Message = "space " + req.Space + " has no remote"
	}
	return p
}

// unsyncable are the results for spaces that have a remote and cannot be used.
func (a *Agent) unsyncable(req api.SyncRequest) []api.SyncResult {
	a.mu.Lock()
	remotes := slices.Clone(a.config.Remotes)
	a.mu.Unlock()
	results := []api.SyncResult{}
	for _, r := range remotes {
		if req.Space != "" && req.Space != r.Space || req.Remote != "" && req.Remote != r.Name {
			continue
		}
		if err := a.usable(r.Space); err != nil {
			results = append(results, api.SyncResult{Space: r.Space, Remote: r.Name, Problem: problem.Of(err)})
		}
	}
	return results
}

// syncProblem says what an error of an exchange means to whoever asked for it.
func syncProblem(err error) error {
	if err == nil {
		return nil
	}
	if said, ok := errors.AsType[*problem.Problem](err); ok {
		return said
	}
	p := &problem.Problem{Code: problem.Failed, Message: err.Error(), Err: err}
	switch {
	case replica.IsOffline(err), errors.Is(err, context.DeadlineExceeded):
		p.Code, p.Hint = problem.Offline, "everything is kept and is sent by itself when the remote is back"
	case isType[*replica.RefusedError](err), isType[*replica.DeclinedError](err):
		p.Code, p.Hint = problem.HubRefused, "nothing is lost; it is sent once this is settled"
	case isType[*replica.ClonedError](err):
		p.Code, p.Rule = problem.HubRefused, hubwire.RuleClone
		p.Hint = "nothing is lost; this machine gets a key of its own with the next sync"
	case isType[*replica.HostKeyError](err):
		p.Code = problem.HubRefused
	case isType[*replica.PurgedError](err):
		p.Code, p.Rule = problem.Corrupt, intake.RulePurged
		p.Hint = "what was purged is not taken back: reset that repository's main to this machine's, with git push --force, or remove the remote; saving goes on"
	case isType[*replica.StrangerError](err):
		p.Code, p.Rule = problem.Corrupt, replica.RuleStranger
		p.Hint = "sync with the hub first, in case somebody has joined it just now; if it stays so, somebody else writes there: find out who, or remove the remote; saving goes on"
	case isType[*replica.TamperedError](err), isType[*replica.RewrittenError](err), isType[*purge.RecordError](err):
		p.Code, p.Hint = problem.Corrupt, "this space is not synced with that remote until it is put right; saving goes on"
	case errors.Is(err, replica.ErrRaced):
		p.Code = problem.Busy
	case isType[*gitstore.LimitError](err):
		p.Code = problem.TooBig
	default:
		return memory.Problem(err)
	}
	return p
}

// askedProblem is syncProblem for what nobody tries again by itself.
func askedProblem(err error, hint string) error {
	err = syncProblem(err)
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != problem.Offline {
		return err
	}
	out := *p
	out.Hint = hint
	return &out
}

// linkProblem is syncProblem with what only the link knows: the commands that
// reset a plain repository which has not followed a purge. They are not run by
// themselves: what others pushed there and nowhere else would be lost.
func (a *Agent) linkProblem(l *courier.Link, err error) error {
	err = syncProblem(err)
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Rule != intake.RulePurged || l.Remote.Hub {
		return err
	}
	out := *p
	out.Hint = fmt.Sprintf("what was purged is not taken back; saving goes on. When nobody has notes there that are nowhere else, "+
		"reset it: git -C %s push --force %s refs/heads/main, then run git gc --prune=now in that repository; or remove it: cairn remote remove %s --space %s",
		quoted(a.opt.Home.Space(l.Remote.Space)), quoted(l.Remote.URL), l.Remote.Name, l.Remote.Space)
	return &out
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
