package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/agent"
	"cairn/cmd/cairn/command"
	"cairn/internal/paths"
	"cairn/policy/secrets/secretstest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cairn":       func() { os.Exit(command.Main(os.Args[1:], command.System())) },
		"cairn-finds": finds,
		"cairn-says":  says,
	})
}

// The scripts in testdata are sessions at a terminal, each in a fresh folder.
// Besides testscript's own commands they may use:
//
//	code N COMMAND...   run it and require exit code N
//	secret VAR RULE     put a secret of that kind, made on the spot, into $VAR
//	text FILE SIZE      write a text of that many bytes, with the word "lastword" at its end
//	nowhere TEXT DIR... require that no file in the folders holds the text
//	until COMMAND...    run it until it succeeds, for ten seconds at most
//	serve DIR           serve the hub in that folder, at $HUB, until the script ends
//	! serve DIR         or until then
//	invite VAR ARGS...  put a fresh invite of that hub into $VAR
//	noted VAR HOME ARGS...  save a note and put its id into $VAR
//	cairn-says HOME COMMAND TEXT  succeed if a command of one word prints the text
//	cairn-finds HOME QUESTION TEXT  succeed if the text is among the answers
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    runCode,
			"secret":  makeSecret,
			"text":    makeText,
			"nowhere": nowhere,
			"until":   until,
			"serve":   serve,
			"invite":  invite,
			"noted":   noted,
			"set":     set,
		},
	})
}

func setup(env *testscript.Env) error {
	env.Values["hubs"] = hubsServed{}
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("USERPROFILE", env.WorkDir)
	env.Setenv("CAIRN_HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_AUTHOR_NAME", "tester")
	env.Setenv("GIT_AUTHOR_EMAIL", "tester@example.invalid")
	env.Setenv("GIT_COMMITTER_NAME", "tester")
	env.Setenv("GIT_COMMITTER_EMAIL", "tester@example.invalid")
	env.Defer(func() { stopAgents(env.WorkDir) })
	return nil
}

// stopAgents ends the agents that a script's commands started.
func stopAgents(dir string) {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "agent.address" {
			_ = agent.Stop(ctx, paths.Home(filepath.Dir(path)))
		}
		return nil
	})
}

func runCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func makeSecret(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: secret VAR RULE")
	}
	ts.Setenv(args[0], secretstest.Generate(args[1], rand.New(rand.NewPCG(rand.Uint64(), 1))))
}

func makeText(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: text FILE SIZE")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	const last = " lastword"
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of a long note about nothing much\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()[:size-len(last)]+last), 0o644))
}

// set gives a home's configuration a member: set NAME VALUE.
func set(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: set NAME VALUE")
	}
	path := filepath.Join(ts.Getenv("CAIRN_HOME"), "config.json")
	b, err := os.ReadFile(path)
	ts.Check(err)
	members := map[string]any{}
	ts.Check(json.Unmarshal(b, &members))
	members[args[0]] = args[1]
	b, err = json.Marshal(members)
	ts.Check(err)
	ts.Check(os.WriteFile(path, b, 0o600))
}

func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args[0]) < 8 {
		ts.Fatalf("usage: nowhere TEXT DIR...")
	}
	looked := 0
	for _, dir := range args[1:] {
		n, err := lookFor(args[0], ts.MkAbs(dir))
		for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < 20; tries++ { // a hub that serves tidies up
			n, err = lookFor(args[0], ts.MkAbs(dir))
		}
		ts.Check(err)
		looked += n
	}
	if looked == 0 {
		ts.Fatalf("there was no file to look at")
	}
}

// lookFor counts the files below dir; one that holds the text is an error.
func lookFor(text, dir string) (looked int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		looked++
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), text) {
			return fmt.Errorf("%s holds it", path)
		}
		return err
	})
	return looked, err
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: until COMMAND...")
	}
	var err error
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = ts.Exec(args[0], args[1:]...); (err == nil) != neg {
			return
		}
	}
	ts.Fatalf("it never came to that: %v", err)
}

// noted is "cairn note" for those who need the id.
func noted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: noted VAR HOME ARGS...")
	}
	ts.Check(ts.Exec("cairn", append([]string{"--home", ts.MkAbs(args[1]), "note", "--json"}, args[2:]...)...))
	var receipt struct{ ID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &receipt))
	ts.Setenv(args[0], receipt.ID)
}

// says is what a command prints as a condition.
func says() {
	out, err := exec.Command("cairn", "--home", os.Args[1], os.Args[2]).Output()
	if err != nil || !strings.Contains(string(out), os.Args[3]) {
		os.Exit(1)
	}
}

// finds is "cairn ask" as a condition.
func finds() {
	home, question, text := os.Args[1], os.Args[2], os.Args[3]
	out, err := exec.Command("cairn", "--home", home, "ask", question).Output()
	if err != nil || !strings.Contains(string(out), text) {
		os.Exit(1)
	}
}

// hubsServed are what ends each hub that a script serves, by its folder.
type hubsServed map[string]func()

func serve(ts *testscript.TestScript, end bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	served := ts.Value("hubs").(hubsServed)
	if end {
		stop, ok := served[args[0]]
		if !ok {
			ts.Fatalf("no hub is served in %s", args[0])
		}
		stop()
		return
	}
	cmd := exec.Command("cairn", "hub", "serve", "--data", ts.MkAbs(args[0]), "--listen", "127.0.0.1:0")
	said, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	served[args[0]] = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			ts.Logf("the hub ended with %v", err)
		}
	})
	ts.Defer(served[args[0]])
	line, err := bufio.NewReader(said).ReadString('\n')
	ts.Check(err)
	addr, _, ok := strings.Cut(strings.TrimPrefix(line, "listening on "), ",")
	if !ok {
		ts.Fatalf("the hub says %q", line)
	}
	ts.Setenv("HUB", addr)
	ts.Setenv("HUBDIR", ts.MkAbs(args[0]))
}

func invite(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: invite VAR ARGS...")
	}
	ts.Check(ts.Exec("cairn", append([]string{"hub", "invite", "--data", ts.Getenv("HUBDIR"), "--addr", ts.Getenv("HUB")}, args[1:]...)...))
	lines := strings.Fields(ts.ReadFile("stdout"))
	ts.Setenv(args[0], lines[len(lines)-1])
}
