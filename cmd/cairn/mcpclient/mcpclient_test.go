package mcpclient_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/agent"
	"cairn/cmd/cairn/command"
	"cairn/cmd/cairn/mcpclient"
	"cairn/internal/paths"
)

const programEnv = "MCPCLIENT_TEST_IS_CAIRN"

// TestMain is the program itself in the processes that the client starts.
func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(command.Main(os.Args[1:], command.System()))
	}
	os.Setenv(programEnv, "1")
	os.Exit(m.Run())
}

func TestAToolRemembersAndRecalls(t *testing.T) {
	home := paths.Home(filepath.Join(t.TempDir(), "home"))
	c, err := mcpclient.Start(t.Context(), os.Args[0], home, "story")
	if err != nil {
		t.Fatal(err)
	}
	// The server starts an agent, which does not end with it.
	t.Cleanup(func() {
		if err := agent.Stop(context.Background(), home); err != nil {
			t.Error(err)
		}
	})
	const text = "The badger sleeps in the day"
	if _, err := c.Call(t.Context(), "remember", map[string]any{"text": text}); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Call(t.Context(), "recall", map[string]any{"query": "when does the badger sleep"})
	if err != nil || len(answer.Hits) != 1 || answer.Hits[0].Text != text || answer.Hits[0].Harness != "story" {
		t.Errorf("recalled: %+v, %v", answer, err)
	}
	_, err = c.Call(t.Context(), "show", map[string]any{"id": "zzzzzzzz"})
	if refused, ok := errors.AsType[*mcpclient.ToolError](err); !ok || refused.Text == "" || strings.Contains(refused.Text, "\n") {
		t.Errorf("a no of the tool: %v", err)
	}
	if _, err := c.Call(t.Context(), "recall", map[string]any{"query": "badger"}); err != nil {
		t.Errorf("after a no: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := mcpclient.Start(t.Context(), filepath.Join(t.TempDir(), "none"), "home", "story"); err == nil {
		t.Error("no error")
	}
}
