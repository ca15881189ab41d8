package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"cairn/internal/memuse"
)

// A gitProgram is the git on this machine, as good as it is without the
// settings of its user.
type gitProgram struct {
	program string // this one
	dir     string // for what calls say
	env     []string
	calls   atomic.Int64
}

// findGit is nil if there is no git.
func (w *work) findGit() (*gitProgram, error) {
	_, err := exec.LookPath("git")
	if errors.Is(err, exec.ErrNotFound) {
		w.remark("git is not installed: nothing to compare with")
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	env := append(withoutGit(os.Environ()), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+w.dir)
	return &gitProgram{program: w.opt.Program, dir: w.dir, env: env}, nil
}

// withoutGit is an environment without what a git that runs us has set.
func withoutGit(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "GIT_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// A gitRun is what one call of git took, with all that it started.
type gitRun struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
	Peak int64         `json:"peak"` // bytes of memory; 0 if unknown
	out  string
}

// run calls git with in as its standard input.
func (g *gitProgram) run(ctx context.Context, in io.Reader, args ...string) (r gitRun, err error) {
	report := g.report()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, g.program, append([]string{"bench", GitCommand, report}, args...)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = g.env, in, &out, &said
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	r, err = readReport(report)
	r.out = out.String()
	return r, err
}

// in is git at work in a repository.
func (g *gitProgram) in(ctx context.Context, dir string, args ...string) (gitRun, error) {
	return g.run(ctx, nil, append([]string{"-C", dir}, args...)...)
}

// report is the name of a new file for what a call takes.
func (g *gitProgram) report() string {
	return filepath.Join(g.dir, fmt.Sprintf("git-%d.json", g.calls.Add(1)))
}

// other is the command line by which a git starts the other side of a push or a
// fetch, and the file in which that says what it took.
func (g *gitProgram) other(command string) (line, report string) {
	report = g.report()
	return shellQuote(g.program) + " bench " + GitCommand + " " + shellQuote(report) + " " + command, report
}

// shellQuote is for the shell that git starts the other side with.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func readReport(name string) (r gitRun, err error) {
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read what git took: %w", err)
	}
	return r, os.Remove(name)
}

// GitCommand is the name of the command that calls Git.
const GitCommand = "git"

// Git runs stock git and writes into the file report what git and all that it
// started have taken. It is a process of its own because a system counts to a
// process what its parent took when it started it.
func Git(ctx context.Context, report string, args []string, in io.Reader, out, errs io.Writer) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	wall, err := timed(cmd.Run)
	if err != nil {
		return fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	peak, err := memuse.Ended(cmd.ProcessState)
	if err != nil && !errors.Is(err, memuse.ErrUnknown) {
		return err
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b, err := json.Marshal(gitRun{Wall: wall, CPU: cpu, Peak: peak})
	if err != nil {
		return err
	}
	return os.WriteFile(report, b, 0o600)
}

// stockGit is a bare repository that git serves, and the one that it is pushed
// to from.
type stockGit struct {
	*gitProgram
	from, bare string
}

// stockGit clones the history of a replica; nil if there is no git.
func (w *work) stockGit(replica string) (*stockGit, error) {
	found, err := w.findGit()
	if found == nil || err != nil {
		return nil, err
	}
	g := &stockGit{found, replica, filepath.Join(w.dir, "stock.git")}
	w.progress("cloning with git")
	// Into one pack, and never to be repacked meanwhile: git at its best.
	if _, err := g.run(w.ctx, nil, "clone", "--quiet", "--bare", "--no-local", replica, g.bare); err != nil {
		return nil, err
	}
	_, err = g.in(w.ctx, g.bare, "config", "receive.autogc", "false")
	return g, err
}

// push pushes a commit and returns what each side took.
func (g *stockGit) push(ctx context.Context, commit string) (client, server gitRun, err error) {
	line, report := g.other("receive-pack")
	client, err = g.in(ctx, g.from, "push", "--quiet", "--receive-pack="+line, g.bare, commit+":refs/heads/main")
	if err != nil {
		return client, server, err
	}
	server, err = readReport(report)
	return client, server, err
}
