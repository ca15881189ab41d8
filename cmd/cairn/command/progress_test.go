package command

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"cairn/agent/api"
)

// busy is an agent that is making its index anew.
type busy struct {
	api.Agent
	asked chan struct{} // receives whenever somebody asks for the status
}

func (b busy) Status(ctx context.Context) (api.Status, error) {
	select {
	case b.asked <- struct{}{}:
	case <-ctx.Done():
	}
	return api.Status{Rebuild: &api.Progress{Done: 420, Total: 1000}}, nil
}

func TestWhoWaitsForTheIndexSeesHowFarItIs(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	a := &app{env: Env{Stderr: &screen, Terminal: true}}
	agent := busy{asked: make(chan struct{})}
	err := a.showing(t.Context(), agent, func() error {
		<-agent.asked
		<-agent.asked // what the first call brought is on the screen
		return nil
	})
	if err != nil || !strings.Contains(screen.String(), "42 % (420 of 1000 events)") {
		t.Fatalf("%v: on the screen: %q", err, screen.String())
	}
	if !strings.HasSuffix(screen.String(), "\r"+strings.Repeat(" ", progressWidth)+"\r") {
		t.Errorf("the line stays: %q", screen.String())
	}
}

func TestNobodyWhoDoesNotWatchIsShownProgress(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	a := &app{env: Env{Stderr: &screen}}
	err := a.showing(t.Context(), busy{}, func() error { return errUsual })
	if err != errUsual || screen.Len() > 0 {
		t.Errorf("%v, and written: %q", err, screen.String())
	}
}

var errUsual = usage("for a test")

func TestAStatusSaysHowFarARebuildIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	writeStatus(&out, api.Status{Rebuild: &api.Progress{Done: 1, Total: 3}})
	if !strings.Contains(out.String(), "index   being made anew: 33 % (1 of 3 events)") {
		t.Error(out.String())
	}
	if got := rebuildWords(api.Progress{}); !strings.Contains(got, "0 %") {
		t.Error(got)
	}
}
