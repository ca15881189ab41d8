package command

import (
	"context"
	"errors"
	"sync"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/agent/localapi"
)

// keptAgent is the agent for the calls of one client. It connects with the
// first call, and again when the agent has ended meanwhile.
type keptAgent struct {
	app *app

	mu     sync.Mutex
	held   api.Agent
	done   func()   // lets go of it
	left   []func() // let go of what was held before in this process
	looked time.Time
}

// remoteAgent is an agent in another process.
type remoteAgent interface {
	Alive(context.Context) bool
}

// localAgent is one in this process.
type localAgent interface {
	Owns() bool
}

func (k *keptAgent) agent(ctx context.Context) (api.Agent, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != nil && k.good(ctx) {
		return k.held, nil
	}
	held, done, err := k.app.agent(ctx, createHome)
	if err != nil {
		return nil, err
	}
	k.letGo()
	k.held, k.done, k.looked = held, done, time.Now()
	return held, nil
}

// letGo makes room for another agent. One in this process stays open until the
// end: other calls may still be at work on it.
func (k *keptAgent) letGo() {
	switch k.held.(type) {
	case nil:
	case localAgent:
		k.left = append(k.left, k.done)
	default:
		k.done()
	}
	k.held = nil
}

// good says whether calls should go on to what is held.
func (k *keptAgent) good(ctx context.Context) bool {
	switch held := k.held.(type) {
	case remoteAgent:
		return held.Alive(ctx)
	case localAgent:
		return held.Owns() || !k.ownerIsBack(ctx)
	}
	return true
}

// How often a session that works beside an owner looks whether that answers
// again, and how long it waits for it. The search index is the owner's: until
// then what is new is saved and may not be found.
const (
	lookEvery = time.Second
	lookLimit = 100 * time.Millisecond
)

// ownerIsBack says whether the owner of the home answers again, or has ended.
func (k *keptAgent) ownerIsBack(ctx context.Context) bool {
	if time.Since(k.looked) < lookEvery {
		return false
	}
	k.looked = time.Now()
	home, err := k.app.home()
	if err != nil {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	_, done, err := agent.Running(ctx, home)
	if err != nil {
		return errors.Is(err, localapi.ErrAbsent)
	}
	done()
	return true
}

func (k *keptAgent) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != nil {
		k.done()
		k.held = nil
	}
	for _, done := range k.left {
		done()
	}
}
