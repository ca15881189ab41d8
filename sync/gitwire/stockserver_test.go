package gitwire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

// process is a git service running as a child, as a stream.
type process struct {
	io.WriteCloser // its stdin
	io.Reader      // its stdout
	cmd            *exec.Cmd
}

// service starts "git upload-pack" or "git receive-pack" on a repository.
func service(t *testing.T, name, dir string) *process {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: our client is not tried against it")
	}
	cmd := exec.Command(path, name, dir)
	cmd.Env = stockEnv()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{in, out, cmd}
	t.Cleanup(func() { p.Close(); _ = cmd.Wait() }) // how it ends is seen in what it said
	return p
}

// bare makes a repository with a few commits and returns it with its head.
func bare(t *testing.T) (dir string, head plumbing.Hash) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "bare.git")
	git(t, ".", "init", "-q", "--bare", "-b", "main", dir)
	work := filepath.Join(t.TempDir(), "work")
	git(t, ".", "clone", "-q", dir, work)
	for i := range 3 {
		committed(t, work, fmt.Sprintf("events/0%d/a", i))
	}
	git(t, work, "push", "-q", "origin", "HEAD:main")
	return dir, plumbing.NewHash(git(t, work, "rev-parse", "HEAD"))
}

// fetchFrom fetches main of a stock repository into r.
func fetchFrom(t *testing.T, dir string, r *repo, haves ...plumbing.Hash) plumbing.Hash {
	t.Helper()
	p := service(t, "upload-pack", dir)
	ad, err := gitwire.ReadAdvert(p)
	if err != nil || ad.Head != "refs/heads/main" {
		t.Fatalf("%+v, %v", ad, err)
	}
	tip := ad.Refs["refs/heads/main"]
	pack, err := gitwire.Fetch(context.Background(), p, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{tip}, Haves: haves, Messages: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.readPack(pack); err != nil {
		t.Fatal(err)
	}
	r.set(t, "refs/heads/main", tip)
	return tip
}

func TestOurClientFetchesFromStockGit(t *testing.T) {
	t.Parallel()
	dir, head := bare(t)
	r, other := newRepo(), newRepo()
	if tip := fetchFrom(t, dir, r); tip != head || r.Len() != 3 {
		t.Fatalf("fetched %s and %d commits", tip, r.Len())
	}
	fetchFrom(t, dir, other)
	next := r.commit(t, "events/01/mine")
	if err := pushToStock(t, dir, r, gitwire.Command{Old: head, New: next, Ref: "refs/heads/main"}, head); err != nil {
		t.Fatal(err)
	}
	if tip := fetchFrom(t, dir, other, oid("9"), head); tip != next { // stock git does not know the first have
		t.Errorf("fetched %s", tip)
	}
	git(t, dir, "fsck", "--strict", "--full")
}

// pushToStock pushes one command to a stock repository that has the history of have.
func pushToStock(t *testing.T, dir string, r *repo, cmd gitwire.Command, have plumbing.Hash) error {
	t.Helper()
	p := service(t, "receive-pack", dir)
	ad, err := gitwire.ReadAdvert(p)
	if err != nil {
		t.Fatal(err)
	}
	result, err := gitwire.Push(context.Background(), p, ad, cmd, gitwire.PushOptions{WritePack: func(w io.Writer) error {
		return r.WritePack(context.Background(), w, []plumbing.Hash{cmd.New}, []plumbing.Hash{have})
	}})
	if err == nil && result.Landed != cmd {
		t.Errorf("landed %+v", result.Landed)
	}
	return err
}

func TestOurClientPushesTheFirstCommitToStockGit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "empty.git")
	git(t, ".", "init", "-q", "--bare", "-b", "main", dir)
	r := newRepo()
	tip := r.commit(t, "a")
	if err := pushToStock(t, dir, r, gitwire.Command{New: tip, Ref: "refs/heads/main"}, plumbing.ZeroHash); err != nil {
		t.Fatal(err)
	}
	if got := git(t, dir, "rev-parse", "main"); got != tip.String() {
		t.Errorf("main is at %s", got)
	}
	git(t, dir, "branch", "other")
	if err := pushToStock(t, dir, r, gitwire.Command{Old: tip, Ref: "refs/heads/other"}, tip); err != nil {
		t.Errorf("a deletion: %v", err)
	}
}

func TestOurClientHearsStockGitRefuse(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the hook of this test is a shell script: hooks are not tried here")
	}
	dir, head := bare(t)
	r := newRepo()
	fetchFrom(t, dir, r)
	next := r.commit(t, "events/01/mine")
	cmd := gitwire.Command{Old: head, New: next, Ref: "refs/heads/main"}

	stale := cmd
	stale.Old = oid("1")
	refused, ok := errors.AsType[*gitwire.RejectedError](pushToStock(t, dir, r, stale, head))
	if !ok || refused.Reason != "failed to update ref" && !strings.Contains(refused.Reason, "lock") {
		t.Errorf("a stale old value: %+v", refused)
	}
	hook := "#!/bin/sh\necho one >&2\necho two >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	refused, ok = errors.AsType[*gitwire.RejectedError](pushToStock(t, dir, r, cmd, head))
	if !ok || refused.Reason != "pre-receive hook declined" || strings.Join(refused.Messages, "|") != "one|two" {
		t.Errorf("a hook that declines: %+v", refused)
	}
}
