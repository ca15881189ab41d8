package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/paths"
)

func recall(query string) map[string]any {
	return map[string]any{"name": "recall", "arguments": map[string]any{"query": query}}
}

// end ends a session as a tool does.
func (s *session) end(t *testing.T) {
	t.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// The agent is killed while a session saves. Every note is there, once, and
// the tool is told so.
func TestASessionOutlivesItsAgent(t *testing.T) {
	h := home(t)
	s := startSession(t, h)
	if _, err := s.ask("tools/call", remember("the first one")); err != nil {
		t.Fatal(err)
	}
	want := []string{"the first one"}
	for i := range 20 {
		want = append(want, fmt.Sprintf("note %d", i))
		if _, err := s.send("tools/call", remember(want[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	kill(t, h)
	for range 20 {
		if _, err := s.next(); err != nil {
			t.Errorf("a note while the agent was killed: %v", err)
		}
	}
	if _, err := s.ask("tools/call", recall("first one")); err != nil {
		t.Errorf("the next call: %v", err)
	}
	s.end(t)
	got := texts(t, h)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the memory holds %q", got)
	}
}

// A session worked beside an agent that hung for a while. It does not go on so
// for the rest of the day: what is new would be saved and not found.
func TestASessionGoesBackToAnAgentThatHung(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be stopped for a while on this system")
	}
	h := home(t)
	s := startSession(t, h)
	if _, err := s.ask("tools/call", remember("before")); err != nil {
		t.Fatal(err)
	}
	hung := agentProcess(t, h)
	hang(t, h, hung)
	if _, err := s.ask("tools/call", remember("saved beside it")); err != nil {
		t.Error(err)
	}
	resume(t, hung)
	for end := time.Now().Add(time.Minute); ; {
		answer, err := s.ask("tools/call", recall("beside"))
		if err != nil {
			t.Fatal(err)
		}
		var found api.Answer
		if err := json.Unmarshal(answer.Result.Structured, &found); err != nil {
			t.Fatal(err)
		}
		if found.Total == 1 && found.Note == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the note is never found: %+v", found)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.end(t)
}

func agentProcess(t *testing.T, h paths.Home) *os.Process {
	t.Helper()
	p, err := agent.Find(t.Context(), h)
	if err != nil || !p.Running {
		t.Fatalf("agent: %+v, %v", p, err)
	}
	process, err := os.FindProcess(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// A tool that asks its server to end gets no error for it.
func TestASessionEndsWhenItIsAskedTo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be asked to end on this system")
	}
	s := startSession(t, home(t))
	if _, err := s.ask("tools/call", remember("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := s.next(); err == nil || !strings.Contains(err.Error(), errEnded.Error()) {
		t.Errorf("the session goes on: %v", err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
