package agent

import (
	"cmp"
	"context"
	"os"
	"slices"

	"cairn/agent/api"
	"cairn/agent/courier"
	"cairn/internal/event"
)

// Status is the state of this machine.
func (a *Agent) Status(ctx context.Context) (api.Status, error) {
	s := api.Status{
		Home: string(a.opt.Home), Device: string(a.key.Load().ID()), Hub: a.hubAddress(),
		Agent:  api.Process{Running: a.opt.Stop != nil, Version: a.opt.Version, PID: os.Getpid()},
		Spaces: []api.SpaceStatus{},
	}
	refused, err := a.Refused(ctx)
	if err != nil {
		return s, err
	}
	s.Refused = len(refused)
	s.Policy = a.policyState()
	if p := a.Progress(); p.Running {
		s.Rebuild = &api.Progress{Done: p.Done, Total: p.Total}
	}
	if p := a.hindsight.Progress(); p.Running {
		s.Judging = &api.Progress{Done: p.Done, Total: p.Total}
	}
	s.Embedder = a.embedder
	if p := a.EmbedProgress(); p.Running {
		s.Embedding = &api.Progress{Done: p.Done, Total: p.Total}
	}
	for _, name := range a.Spaces() {
		sp, err := a.spaceStatus(ctx, name)
		if err != nil {
			return s, err
		}
		s.Spaces = append(s.Spaces, sp)
	}
	a.mu.Lock()
	for name, why := range a.broken {
		s.Spaces = append(s.Spaces, api.SpaceStatus{Name: name, LastError: why.Error()})
	}
	a.mu.Unlock()
	slices.SortFunc(s.Spaces, func(x, y api.SpaceStatus) int { return cmp.Compare(x.Name, y.Name) })
	return s, nil
}

// spaceStatus is the state of one space; with several remotes, of the one that
// needs attention.
func (a *Agent) spaceStatus(ctx context.Context, name string) (api.SpaceStatus, error) {
	level, err := a.Level(ctx, name)
	if err != nil {
		return api.SpaceStatus{Name: name, LastError: err.Error()}, nil
	}
	out := api.SpaceStatus{Name: name, Head: level.Head.String(), Events: level.Events, Indexed: level.Indexed, Damaged: len(level.Damaged)}
	for _, l := range a.courier.Links(name, "") {
		state := l.State()
		if out.Remote != "" && state.Err == nil {
			continue
		}
		out.Remote, out.LastSync = remoteWords(l), nil
		if !state.LastSync.IsZero() {
			t := event.NewTime(state.LastSync)
			out.LastSync = &t
		}
		out.LastError = ""
		if state.Err != nil {
			out.LastError = state.Err.Error()
		}
		waiting, err := l.Waiting(ctx)
		if err != nil {
			out.LastError = err.Error()
		}
		out.Ahead, out.Behind = waiting.Events, 0
		if state.Behind {
			out.Behind = 1 // how many is known when they are here
		}
	}
	if out.Purged, out.PurgedAt, err = a.purgedFrom(name); err != nil {
		out.LastError = err.Error()
	}
	held, err := a.held(ctx, name)
	if err != nil {
		out.LastError = err.Error()
	}
	setHeld(&out, held)
	return out, nil
}

func remoteWords(l *courier.Link) string {
	if l.Remote.Hub {
		return "hub " + l.Remote.URL
	}
	return l.Remote.Name + " " + l.Remote.URL
}
