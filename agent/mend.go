package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/config"
	"cairn/sync/gitstore"
	"cairn/sync/mend"
	"cairn/sync/replica"
)

// mend looks at the repository of a space and puts right what it safely can.
func (a *Agent) mend(ctx context.Context, name string, deep bool) ([]mend.Finding, error) {
	opt := mend.Options{FS: a.opt.FS, Dir: a.opt.Home.Space(name), Name: name, Deep: deep}
	_, mark, err := projection.Load(a.opt.FS, a.opt.Home.Facts(name))
	if err != nil {
		return nil, err
	}
	opt.Known = []plumbing.Hash{mark.Commit}
	if from := a.remotesOf(name); len(from) > 0 {
		opt.Refill = func(ctx context.Context, store *gitstore.Store, commits []plumbing.Hash) error {
			return a.refill(ctx, store, from, commits)
		}
	}
	found, err := mend.Repository(ctx, opt)
	if err != nil {
		return found, err
	}
	if len(found) > 0 && a.usable(name) == nil {
		err = a.relink(ctx, name)
	}
	return found, err
}

func (a *Agent) remotesOf(space string) []config.Remote {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []config.Remote
	for _, r := range a.config.Remotes {
		if r.Space == space {
			out = append(out, r)
		}
	}
	return out
}

// refill fetches what a store lacks from the first remote that has it.
func (a *Agent) refill(ctx context.Context, store *gitstore.Store, from []config.Remote, commits []plumbing.Hash) error {
	var failed error
	for _, r := range from {
		remote, err := a.remoteFor(api.Remote{Space: r.Space, Name: r.Name, URL: r.URL, Hub: r.Hub}, a.courier.Hub())
		if err == nil {
			err = replica.Refill(ctx, store, remote, commits)
		}
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, fmt.Errorf("from %s: %w", r.Name, err))
	}
	return failed
}
