package agent_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/agent/briefing"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/policy/scope"
)

var person = event.Actor{Kind: event.ActorHuman, ID: "ann"}

// newHome is a home without an agent.
func newHome(t *testing.T) paths.Home {
	t.Helper()
	home := paths.Home(filepath.Join(t.TempDir(), "home"))
	if _, err := agent.MakeHome(t.Context(), home, "laptop"); err != nil {
		t.Fatal(err)
	}
	return home
}

func own(t *testing.T, home paths.Home) *agent.Agent {
	t.Helper()
	a, err := agent.Own(t.Context(), agent.Options{Home: home, Version: "test", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func closeAgent(t *testing.T, a *agent.Agent) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, a *agent.Agent, p event.Payload) event.ID {
	t.Helper()
	r, err := a.Remember(t.Context(), api.Draft{Payload: p, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func note(text string) event.Payload { return &event.Observe{Summary: text, Content: text} }

func kept(t *testing.T, home paths.Home) string {
	t.Helper()
	digest, err := briefing.Kept(disk.OS, home)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// waitKept waits until the digest in the home is as it should be.
func waitKept(t *testing.T, home paths.Home, what string, is func(digest string) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(kept(t, home)); {
		if time.Now().After(end) {
			t.Fatalf("the digest in the home is never %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestTheDigestLiesInTheHomeWhileTheAgentRunsAndAfterwards(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	a := own(t, home)
	save(t, a, note("We chose Postgres for billing"))
	waitKept(t, home, "there", func(d string) bool { return strings.Contains(d, "Postgres") })
	for _, text := range []string{"tabs, not spaces", "the build needs Go 1.26"} {
		save(t, a, note(text))
	}
	want, err := a.Digest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	closeAgent(t, a)
	if got := kept(t, home); got != want || !strings.Contains(got, "Go 1.26") {
		t.Errorf("after the agent has ended the home holds %q, it answered %q", got, want)
	}
}

func TestWhatIsRedactedHasLeftTheDigestWhenTheCallReturns(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	a := own(t, home)
	defer closeAgent(t, a)
	id := save(t, a, note("Ann is ill"))
	waitKept(t, home, "there", func(d string) bool { return strings.Contains(d, "Ann is ill") })
	save(t, a, &event.Redact{Target: id, Reason: "personal"})
	if got := kept(t, home); strings.Contains(got, "Ann is ill") {
		t.Errorf("the home still says %q", got)
	}
}

func TestADeletedDigestComesBackAndACurrentOneIsLeftAlone(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	a := own(t, home)
	save(t, a, note("We chose Postgres for billing"))
	closeAgent(t, a)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(home.Digest(), long, long); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(home.Digest())
	if err != nil {
		t.Fatal(err)
	}
	a = own(t, home)
	if err := a.Follow(t.Context(), scope.Personal); err != nil {
		t.Fatal(err)
	}
	closeAgent(t, a)
	after, err := os.Stat(home.Digest())
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the digest was written again though nothing had changed: %v, %v", after, err)
	}
	if err := os.Remove(home.Digest()); err != nil {
		t.Fatal(err)
	}
	a = own(t, home)
	waitKept(t, home, "there again", func(d string) bool { return strings.Contains(d, "Postgres") })
	closeAgent(t, a)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
