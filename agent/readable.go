package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/sync/eventlog"
)

// Ask searches; see api.Agent. A space that cannot be read is named, and when
// nothing is found it is the error: the answer may be in it.
func (a *Agent) Ask(ctx context.Context, q api.Query) (api.Answer, error) {
	return a.answer(ctx, q, a.Service.Ask)
}

// Log lists; see api.Agent. It treats a space that cannot be read as Ask does.
func (a *Agent) Log(ctx context.Context, q api.Query) (api.Answer, error) {
	return a.answer(ctx, q, a.Service.Log)
}

func (a *Agent) answer(ctx context.Context, q api.Query, from func(context.Context, api.Query) (api.Answer, error)) (api.Answer, error) {
	if err := a.allUsable(q.Filter.Space); err != nil && q.Filter.Space != "" {
		return api.Answer{}, err
	}
	answer, err := from(ctx, q)
	bad := a.allUsable("")
	if err != nil || bad == nil || q.Filter.Space != "" {
		return answer, err
	}
	if len(answer.Hits) == 0 {
		return answer, bad
	}
	answer.Note = joinSentences(answer.Note, bad.Error())
	return answer, nil
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Show is one event; see api.Agent.
func (a *Agent) Show(ctx context.Context, ref string, history bool) (api.Shown, error) {
	shown, err := a.Service.Show(ctx, ref, history)
	if err != nil && problem.Of(err).Code == problem.NotFound {
		if bad := a.allUsable(""); bad != nil {
			return api.Shown{}, bad
		}
	}
	return shown, err
}

// Export gives out every event; see api.Agent. It ends with an error if a
// space could not be read.
func (a *Agent) Export(ctx context.Context, space string, fn func([]byte) error) error {
	bad := a.allUsable(space)
	if bad != nil && space != "" {
		return bad
	}
	return errors.Join(a.Service.Export(ctx, space, fn), bad)
}

// Digest is the list of pointers; see api.Agent. With a space that cannot be
// read it is none at all, rather than one that lacks the half.
func (a *Agent) Digest(ctx context.Context, most int) (string, error) {
	if bad := a.allUsable(""); bad != nil {
		return "", bad
	}
	return a.Service.Digest(ctx, most)
}

// allUsable is why a space cannot be used, of the one of that name or the
// first of all; nil if nothing is known against them.
func (a *Agent) allUsable(name string) error {
	names := []string{name}
	if name == "" {
		a.mu.Lock()
		names = names[:0]
		for name := range a.broken {
			names = append(names, name)
		}
		a.mu.Unlock()
		slices.Sort(names)
	}
	for _, name := range names {
		if err := a.usable(name); err != nil {
			return err
		}
	}
	return nil
}

// usable is why a space that is there cannot be used, nil if nothing is known
// against it. One that was mended meanwhile is opened.
func (a *Agent) usable(name string) error {
	if name == "" {
		name = scope.Personal
	}
	a.mu.Lock()
	err := a.broken[name]
	if err != nil {
		if err = a.openAgain(name); err != nil {
			a.broken[name] = err
		}
	}
	a.mu.Unlock()
	if err == nil {
		return nil
	}
	p := *problem.Of(memory.Problem(err))
	p.Message = "space " + name + " cannot be used: " + p.Message
	return &p
}

// openAgain opens a space that could not be opened before. Called with mu
// held.
func (a *Agent) openAgain(name string) error {
	if err := a.notGone(name); err != nil {
		return err
	}
	return a.openSpace(name)
}

// findGone marks the spaces that have been here and whose repository is not
// there any more.
func (a *Agent) findGone() {
	names := []string{scope.Personal, scope.Local}
	for _, r := range a.config.Remotes {
		names = append(names, r.Space)
	}
	for _, name := range names {
		if a.logs[name] == nil && a.broken[name] == nil {
			if err := a.notGone(name); err != nil {
				a.log.Warn("a space is gone", "space", name, "err", err)
				a.broken[name] = err
			}
		}
	}
}

// known lists the spaces that are here and those that should be, sorted.
func (a *Agent) known() []string {
	names := a.Spaces()
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.broken {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// notGone fails if a space that has had events on this machine has no
// repository any more: nothing new may take its place unasked.
func (a *Agent) notGone(name string) error {
	if !event.ValidSpaceName(name) {
		return nil
	}
	dir := a.opt.Home.Space(name)
	if there, err := eventlog.Exists(a.opt.FS, dir); err != nil || there {
		return err
	}
	was, err := eventlog.Exists(a.opt.FS, a.opt.Home.Facts(name))
	if err != nil || !was {
		return err
	}
	return &problem.Problem{
		Code:    problem.Corrupt,
		Message: fmt.Sprintf("its repository %s is gone, and it held events; nothing was put in its place", dir),
		Hint:    "put it back from a backup; or \"cairn init --space " + name + "\" begins it anew, and what a hub has of it comes back",
	}
}
