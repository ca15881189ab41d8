package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stockGit is a bare repository that the git on this machine serves, and the
// one that it is pushed to from.
type stockGit struct {
	program string // this one
	from    string
	bare    string
	times   string // file in which ReceivePack says what it took
	env     []string
}

// stockGit clones the history of a replica; nil if there is no git.
func (w *work) stockGit(replica string) (*stockGit, error) {
	if _, err := exec.LookPath("git"); err != nil {
		w.remark("git is not installed: nothing to compare a push with")
		return nil, nil
	}
	g := &stockGit{
		program: w.opt.Program, from: replica,
		bare: filepath.Join(w.dir, "stock.git"), times: filepath.Join(w.dir, "times"),
	}
	g.env = append(withoutGit(os.Environ()),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+w.dir, receivedEnv+"="+g.times)
	w.progress("cloning with git")
	// Into one pack, and never to be repacked meanwhile: git at its best.
	if err := g.git(w.ctx, "clone", "--quiet", "--bare", "--no-local", replica, g.bare); err != nil {
		return nil, err
	}
	return g, g.git(w.ctx, "-C", g.bare, "config", "receive.autogc", "false")
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

func (g *stockGit) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = g.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// push pushes a commit and returns the processor time of the receiving side.
func (g *stockGit) push(ctx context.Context, commit string) (time.Duration, error) {
	receive := shellQuote(g.program) + " bench " + ReceivePackCommand
	if err := g.git(ctx, "-C", g.from, "push", "--quiet", "--receive-pack="+receive, g.bare, commit+":refs/heads/main"); err != nil {
		return 0, err
	}
	b, err := os.ReadFile(g.times)
	if err != nil {
		return 0, fmt.Errorf("read what git took: %w", err)
	}
	ns, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read what git took: %w", err)
	}
	return time.Duration(ns), nil
}

// shellQuote is for the shell that git starts the other side with.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ReceivePackCommand is the name of the command that calls ReceivePack.
const ReceivePackCommand = "receive-pack"

// receivedEnv names the file for the times.
const receivedEnv = "CAIRN_BENCH_TIMES"

// ReceivePack serves one push to the repository in dir with stock git, and
// writes into a file how many nanoseconds of processor time git and all that
// it started have taken.
func ReceivePack(ctx context.Context, dir string, in io.Reader, out, errs io.Writer) error {
	name := os.Getenv(receivedEnv)
	if name == "" {
		return errors.New("this command serves a benchmark: " + receivedEnv + " is not set")
	}
	cmd := exec.CommandContext(ctx, "git", "receive-pack", dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("receive a push: %w", err)
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return os.WriteFile(name, []byte(strconv.FormatInt(took.Nanoseconds(), 10)), 0o600)
}
