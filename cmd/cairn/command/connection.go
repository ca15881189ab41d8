package command

import (
	"context"
	"os"
	"os/exec"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/paths"
)

// need says what a command wants of the home.
type need int

const (
	createHome   need = iota // make it if it is missing
	needHome                 // fail if it is missing
	runningAgent             // only an agent that runs already
)

// agent reaches the agent of the home. The caller calls done.
func (a *app) agent(ctx context.Context, n need) (api.Agent, func(), error) {
	home, err := a.home()
	if err != nil {
		return nil, nil, err
	}
	switch n {
	case runningAgent:
		return agent.Running(ctx, home)
	case createHome:
		if _, err := a.makeHome(ctx, home); err != nil {
			return nil, nil, err
		}
	}
	return agent.Connect(ctx, a.connection(home))
}

func (a *app) makeHome(ctx context.Context, home paths.Home) (bool, error) {
	name, err := os.Hostname()
	if err != nil {
		name = "machine"
	}
	return agent.MakeHome(ctx, home, name)
}

func (a *app) connection(home paths.Home) agent.Connection {
	return agent.Connection{
		Home: home, Version: Version(), Log: a.logger(),
		Program: func() *exec.Cmd { return a.background(home) },
	}
}

// background is the agent that a command starts when none is running; nil if
// it cannot be started from here.
func (a *app) background(home paths.Home) *exec.Cmd {
	if a.env.Getenv("CAIRN_NO_AGENT") != "" {
		return nil
	}
	program, err := a.env.Executable()
	if err != nil {
		return nil
	}
	cmd := exec.Command(program, "agent", "run", "--home", string(home), "--idle", idleEnd.String())
	cmd.Dir = string(home) // never keep the folder of a project busy
	cmd.Env = withoutGit(os.Environ())
	return cmd
}
