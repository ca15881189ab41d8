package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
)

// home is the folder of a memory that has not been made yet; whatever agent
// serves it is stopped when the test ends.
func home(t *testing.T) paths.Home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	t.Cleanup(func() { stopAgents(dir) })
	return paths.Home(dir)
}

// cairn is a command of the program under test.
func cairn(ctx context.Context, home paths.Home, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cairn", append([]string{"--home", string(home)}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(string(home)))
	return cmd
}

// A session is an AI tool's: a "cairn mcp" process of its own.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	id  int
}

func startSession(t *testing.T, home paths.Home) *session {
	t.Helper()
	s := &session{cmd: cairn(t.Context(), home, "mcp", "--client", "test")}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(make([]byte, 64<<10), 16<<20)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ask("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "test", "version": "1"},
	}); err != nil {
		t.Fatalf("initialize: %v", err)
	}
	return s
}

// send writes a request and returns its id.
func (s *session) send(method string, params any) (int, error) {
	s.id++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		return 0, err
	}
	_, err = s.in.Write(append(b, '\n'))
	return s.id, err
}

// reply is one answer.
type reply struct {
	ID     int `json:"id"`
	Result struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

var errEnded = errors.New("the session ended")

// next is the next answer, whatever it answers.
func (s *session) next() (reply, error) {
	for s.out.Scan() {
		var r reply
		if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
			return r, fmt.Errorf("a line on stdout is no protocol: %q", s.out.Text())
		}
		if r.ID == 0 {
			continue // a notification
		}
		if r.Error != nil {
			return r, errors.New(r.Error.Message)
		}
		if r.Result.IsError {
			return r, fmt.Errorf("%v", r.Result.Content)
		}
		return r, nil
	}
	return reply{}, errEnded
}

func (s *session) ask(method string, params any) (reply, error) {
	if _, err := s.send(method, params); err != nil {
		return reply{}, err
	}
	return s.next()
}

func remember(text string) map[string]any {
	return map[string]any{"name": "remember", "arguments": map[string]any{"text": text}}
}

// texts lists every note in the history.
func texts(t *testing.T, home paths.Home) []string {
	t.Helper()
	a, done := reach(t, home)
	defer done()
	var all []string
	err := a.Export(t.Context(), "personal", func(b []byte) error {
		e, err := event.Decode(b)
		if err != nil {
			return err
		}
		all = append(all, e.Payload.Body())
		return e.Verify()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func reach(t *testing.T, home paths.Home) (api.Agent, func()) {
	t.Helper()
	a, done, err := agent.Running(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	return a, done
}

// rest ends the agent. While one folds packs, stock git may look for a pack that
// has just been folded.
func rest(t *testing.T, h paths.Home) {
	t.Helper()
	if err := agent.Stop(t.Context(), h); err != nil {
		t.Fatal(err)
	}
}

func fsck(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("stock git is not installed: the repository was not checked")
	}
	cmd := exec.Command("git", "fsck", "--strict", "--no-dangling")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// Thirty-two tools on one machine, each with a process of its own, save a
// hundred notes each without waiting for one another, on a machine that had no
// memory.
func TestManySessionsSaveAtOnce(t *testing.T) {
	const sessions, each = 32, 100
	h := home(t)
	var wg sync.WaitGroup
	for n := range sessions {
		s := startSession(t, h)
		wg.Go(func() {
			go func() {
				for i := range each {
					if _, err := s.send("tools/call", remember(fmt.Sprintf("note word%dx%d of session %d", n, i, n))); err != nil {
						t.Errorf("send: %v", err)
					}
				}
				s.in.Close()
			}()
			for range each {
				if _, err := s.next(); err != nil {
					t.Errorf("session %d: %v", n, err)
					return
				}
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("session %d ended with %v", n, err)
			}
		})
	}
	wg.Wait()
	if got := len(slices.Compact(texts(t, h))); got != sessions*each {
		t.Errorf("%d notes, want %d", got, sessions*each)
	}
	a, done := reach(t, h)
	defer done()
	for n := range sessions {
		for i := range each {
			word := fmt.Sprintf("word%dx%d", n, i)
			answer, err := a.Ask(t.Context(), api.Query{Text: word, Limit: 1})
			if err != nil || len(answer.Hits) == 0 || !strings.Contains(answer.Hits[0].Text, word+" ") {
				t.Fatalf("%s is not found: %+v, %v", word, answer.Hits, err)
			}
		}
	}
	rest(t, h)
	fsck(t, h.Space("personal"))
}

func TestOneKeyFromManyProcesses(t *testing.T) {
	h := home(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	for range 20 {
		wg.Go(func() {
			out, err := cairn(t.Context(), h, "--json", "note", "--key", "the-key", "said once").Output()
			var r api.Receipt
			if err != nil || json.Unmarshal(out, &r) != nil {
				t.Errorf("note: %v, %s", err, out)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[string(r.ID)]++
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("ids: %v", ids)
	}
	if got := texts(t, h); len(got) != 1 {
		t.Errorf("notes: %q", got)
	}
}

// Three tools save notes; agent and tools are killed at a random moment. What
// was acknowledged is there, and the next note works at once.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := 6
	if os.Getenv("CAIRN_LONG_TESTS") != "" {
		rounds = 100
	}
	h := home(t)
	var mu sync.Mutex
	var acknowledged []string
	for round := range rounds {
		var writers sync.WaitGroup
		var running []*session
		for n := range 3 {
			s := startSession(t, h)
			running = append(running, s)
			writers.Go(func() {
				for i := 0; ; i++ {
					text := fmt.Sprintf("round %d session %d note %d", round, n, i)
					if _, err := s.ask("tools/call", remember(text)); err != nil {
						return // killed
					}
					mu.Lock()
					acknowledged = append(acknowledged, text)
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(50+rand.IntN(400)) * time.Millisecond)
		kill(t, h)
		for _, s := range running {
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		writers.Wait()
		for _, s := range running {
			_ = s.cmd.Wait() // killed
		}
		text := fmt.Sprintf("after round %d", round)
		if out, err := cairn(t.Context(), h, "note", text).CombinedOutput(); err != nil {
			t.Fatalf("the note after round %d: %v\n%s", round, err, out)
		}
		acknowledged = append(acknowledged, text)
	}
	if len(acknowledged) < 2*rounds {
		t.Fatalf("only %d notes were acknowledged: nothing was tried", len(acknowledged))
	}
	have := map[string]bool{}
	for _, text := range texts(t, h) {
		have[text] = true
	}
	a, done := reach(t, h)
	defer done()
	for _, text := range acknowledged {
		if !have[text] {
			t.Errorf("%q is not in the history", text)
		}
		answer, err := a.Ask(t.Context(), api.Query{Text: `"` + text + `"`, Limit: 20})
		if err != nil || !slices.ContainsFunc(answer.Hits, func(hit api.Hit) bool { return hit.Text == text }) {
			t.Errorf("%q is not found: %v", text, err)
		}
	}
	rest(t, h)
	fsck(t, h.Space("personal"))
}

// A killed agent keeps its home until the system has taken it down. Whoever comes
// meanwhile waits for that, and leaves an agent behind as always.
func TestAnAgentIsStartedWhenTheHomeIsFree(t *testing.T) {
	h := home(t)
	if out, err := cairn(t.Context(), h, "note", "the first one").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest(t, h)
	dying, err := localapi.Own(h)
	if err != nil {
		t.Fatal(err)
	}
	note := cairn(t.Context(), h, "note", "the next one")
	if err := note.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	if err := dying.Release(); err != nil {
		t.Fatal(err)
	}
	if err := note.Wait(); err != nil {
		t.Fatal(err)
	}
	if p, err := agent.Find(t.Context(), h); err != nil || !p.Running {
		t.Errorf("no agent was left: %+v, %v", p, err)
	}
}

// kill kills the agent of the home with no warning.
func kill(t *testing.T, h paths.Home) {
	t.Helper()
	p, err := agent.Find(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Running {
		return
	}
	process, err := os.FindProcess(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// A long note goes through MCP byte for byte.
func TestALongNoteThroughMCP(t *testing.T) {
	h := home(t)
	s := startSession(t, h)
	for _, size := range []int{2_001, 50_001, 900_000} {
		text := strings.Repeat("all work and no play makes a dull note; ", size/40+1)[:size-8] + fmt.Sprintf("end%05d", size%100_000)
		saved, err := s.ask("tools/call", remember(text))
		if err != nil {
			t.Fatal(err)
		}
		var r api.Receipt
		if err := json.Unmarshal(saved.Result.Structured, &r); err != nil {
			t.Fatal(err)
		}
		shown, err := s.ask("tools/call", map[string]any{"name": "show", "arguments": map[string]any{"id": r.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(shown.Result.Content, func(c struct {
			Text string `json:"text"`
		}) bool {
			return strings.HasSuffix(c.Text, text)
		}) {
			t.Errorf("%d bytes do not come back", size)
		}
	}
	if _, err := s.ask("tools/call", remember(strings.Repeat("x", 1_100_000))); err == nil {
		t.Error("1.1 MB was taken")
	}
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// An agent that hangs does not keep anybody from saving; whoever owns the home
// next finds what was saved beside it.
func TestAHungAgentIsWorkedAround(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be stopped for a while on this system")
	}
	h := home(t)
	if out, err := cairn(t.Context(), h, "note", "before").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := agent.Find(t.Context(), h)
	if err != nil || !p.Running {
		t.Fatalf("agent: %+v, %v", p, err)
	}
	hung, err := os.FindProcess(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	hang(t, h, hung)
	if out, err := cairn(t.Context(), h, "note", "saved beside it").CombinedOutput(); err != nil {
		t.Errorf("note: %v\n%s", err, out)
	}
	if err := hung.Kill(); err != nil {
		t.Fatal(err)
	}
	out, err := cairn(t.Context(), h, "ask", "beside").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "saved beside it") {
		t.Errorf("ask: %v\n%s", err, out)
	}
}

// hang stops an agent where it holds no log: who hangs in the middle of a write
// keeps all others from writing, as long as it lives.
func hang(t *testing.T, h paths.Home, p *os.Process) {
	t.Helper()
	for _, space := range []string{"local", "personal"} {
		l, err := disk.Lock(t.Context(), filepath.Join(h.Space(space), "append.lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		}()
	}
	stop(t, p)
	for end := time.Now().Add(10 * time.Second); !isStopped(t, p.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the agent does not stop")
		}
	}
}

// isStopped says whether every thread of a process stands still. A system that
// does not tell stops them all at once.
func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range states {
		b, err := os.ReadFile(path)
		if err != nil {
			return false // a thread that has just ended
		}
		if _, state, _ := strings.Cut(string(b), ") "); !strings.HasPrefix(state, "T") { // proc_pid_stat(5)
			return false
		}
	}
	return true
}
