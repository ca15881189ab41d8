package proof_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// space is the name of every log in these tests.
const space = "team"

// git runs stock git in dir, away from the configuration of whoever runs the tests.
func git(dir string, args ...string) (string, error) {
	return gitWith(context.Background(), dir, "", args...)
}

func gitWith(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// needGit skips, aloud, what cannot be proved without a judge.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("stock git is not installed: nothing can judge the repositories")
	}
}

// fsck has stock git judge a repository. Objects that no ref leads to are no fault.
func fsck(f *findings, what, dir string) {
	if out, err := git(dir, "fsck", "--strict", "--full", "--no-dangling", "--no-progress"); err != nil || strings.TrimSpace(out) != "" {
		f.addf("%s: git fsck: %v %s", what, err, out)
	}
}

// stockIDs are the events that stock git finds in the history's last tree.
func stockIDs(dir string) (map[event.ID]bool, error) {
	out, err := git(dir, "ls-tree", "-r", "--name-only", "refs/heads/main")
	if err != nil {
		return nil, err
	}
	ids := map[event.ID]bool{}
	for name := range strings.Lines(out) {
		if id, ok := strings.CutSuffix(path.Base(strings.TrimSpace(name)), ".json"); ok && id != "cairn" {
			ids[event.ID(id)] = true
		}
	}
	return ids, nil
}

// filesOf are the files of a log's last tree, by path, as we read them.
func filesOf(l *eventlog.Log) (map[event.ID]string, error) {
	head, err := l.Head()
	if err != nil {
		return nil, err
	}
	files := map[event.ID]string{}
	err = l.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		files[s.ID] = string(s.Bytes)
		if s.Err != nil {
			return s.Err
		}
		return s.Event.Verify()
	})
	return files, err
}

// filesAt opens the log at dir as the next process would, and reads it.
func filesAt(dir string) (map[event.ID]string, error) {
	l, err := eventlog.Open(disk.OS, dir, space)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(l)
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	return files, err
}

// goGitFiles are the files of the last tree as plain go-git reads them, and checks that it can walk all the history.
func goGitFiles(dir string) (map[event.ID]string, error) {
	r, err := gogit.PlainOpen(dir)
	if err != nil {
		return nil, err
	}
	ref, err := r.Reference(plumbing.NewBranchReferenceName("main"), true)
	if err != nil {
		return nil, err
	}
	all, err := r.Log(&gogit.LogOptions{From: ref.Hash()})
	if err != nil {
		return nil, err
	}
	if err := all.ForEach(func(*object.Commit) error { return nil }); err != nil {
		return nil, err
	}
	commit, err := r.CommitObject(ref.Hash())
	if err != nil {
		return nil, err
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	files := map[event.ID]string{}
	err = tree.Files().ForEach(func(f *object.File) error {
		id, isEvent := strings.CutSuffix(path.Base(f.Name), ".json")
		if !isEvent || id == "cairn" {
			return nil
		}
		text, err := f.Contents()
		files[event.ID(id)] = text
		return err
	})
	return files, err
}

// judged compares what we, stock git and go-git find in a repository, and returns it.
func judged(f *findings, what, dir string) map[event.ID]string {
	ours, err := filesAt(dir)
	if err != nil {
		f.addf("%s: we read: %v", what, err)
		return nil
	}
	theirs, err := goGitFiles(dir)
	if err != nil || !maps.Equal(ours, theirs) {
		f.addf("%s: go-git reads %d events and we %d, %v", what, len(theirs), len(ours), err)
	}
	stock, err := stockIDs(dir)
	if err != nil || len(stock) != len(ours) {
		f.addf("%s: stock git lists %d events and we read %d, %v", what, len(stock), len(ours), err)
	}
	fsck(f, what, dir)
	return ours
}
