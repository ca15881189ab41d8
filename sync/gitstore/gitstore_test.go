package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/sync/gitstore"
)

// quick is the real file system without the waiting: what these tests look at does not depend on power.
var quick = disktest.Unsynced(disk.OS)

// newStore returns an open, empty repository.
func newStore(t testing.TB, options ...gitstore.Option) *gitstore.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo.git")
	if err := gitstore.Init(quick, dir); err != nil {
		t.Fatal(err)
	}
	return openStore(t, dir, options...)
}

func openStore(t testing.TB, dir string, options ...gitstore.Option) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Open(quick, dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, gitstore.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// git runs stock git in dir, away from the configuration of whoever runs the tests, and returns what it says.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(t, dir, "", args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(t testing.TB, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	exe, err := exec.LookPath("git")
	if err != nil {
		t.Skip("stock git is not installed: nothing to compare with")
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = gitEnv()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func gitEnv() []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid",
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	return env
}

// fsck fails the test unless stock git finds the repository whole.
func fsck(t testing.TB, dir string) {
	t.Helper()
	if out := git(t, dir, "fsck", "--strict", "--full", "--no-progress", "--no-dangling"); strings.TrimSpace(out) != "" {
		t.Errorf("git fsck: %s", out)
	}
}

func blob(text string) gitstore.Object {
	return gitstore.NewObject(plumbing.BlobObject, []byte(text))
}

// commitOf returns the objects of a commit whose tree holds one file, the commit last.
func commitOf(text string, parents ...plumbing.Hash) []gitstore.Object {
	file := blob(text)
	tree := gitstore.NewObject(plumbing.TreeObject, append([]byte("100644 file.txt\x00"), file.Hash[:]...))
	var c strings.Builder
	fmt.Fprintf(&c, "tree %s\n", tree.Hash)
	for _, p := range parents {
		fmt.Fprintf(&c, "parent %s\n", p)
	}
	c.WriteString("author a <a@example.invalid> 1700000000 +0000\ncommitter a <a@example.invalid> 1700000000 +0000\n\n")
	fmt.Fprintf(&c, "say %q\n", text)
	return []gitstore.Object{file, tree, gitstore.NewObject(plumbing.CommitObject, []byte(c.String()))}
}

// appendCommit adds a commit on top of main, as a log would.
func appendCommit(t testing.TB, s *gitstore.Store, text string) plumbing.Hash {
	t.Helper()
	h, err := tryAppend(t, s, text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func tryAppend(t testing.TB, s *gitstore.Store, text string) (_ plumbing.Hash, err error) {
	l, err := s.Lock(t.Context())
	if err != nil {
		return plumbing.Hash{}, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	head, err := s.Head()
	if err != nil {
		return plumbing.Hash{}, err
	}
	var parents []plumbing.Hash
	if !head.Commit.IsZero() {
		parents = append(parents, head.Commit)
	}
	objs := commitOf(text, parents...)
	if _, err := s.WritePack(objs); err != nil {
		return plumbing.Hash{}, err
	}
	commit := objs[len(objs)-1].Hash
	return commit, s.UpdateRef(head.Ref, head.Commit, commit)
}

func mustObject(t testing.TB, r gitstore.Reader, want gitstore.Object) {
	t.Helper()
	got, err := r.Object(want.Hash)
	if err != nil {
		t.Error(err)
		return
	}
	if got.Type != want.Type || got.Hash != want.Hash || string(got.Data) != string(want.Data) {
		t.Errorf("object %s: got %s of %d bytes, want %s of %d", want.Hash, got.Type, len(got.Data), want.Type, len(want.Data))
	}
}

func mustHave(t testing.TB, r gitstore.Reader, h plumbing.Hash, want bool) {
	t.Helper()
	got, err := r.Has(h)
	if err != nil || got != want {
		t.Errorf("Has(%s) = %v, %v; want %v", h, got, err, want)
	}
}

func TestNewRepositoryIsOneForStockGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if got := strings.TrimSpace(git(t, s.Dir(), "rev-parse", "--is-bare-repository")); got != "true" {
		t.Errorf("is-bare-repository: %s", got)
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "symbolic-ref", "HEAD")); got != "refs/heads/main" {
		t.Errorf("HEAD is %s", got)
	}
	head, err := s.Head()
	if err != nil || head != (gitstore.Head{Ref: "refs/heads/main"}) {
		t.Errorf("Head() = %v, %v", head, err)
	}
}

func TestInitRefusesAFolderThatHoldsSomething(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := gitstore.Init(disk.OS, dir); !errors.Is(err, gitstore.ErrNotEmpty) {
		t.Errorf("got %v, want ErrNotEmpty", err)
	}
}

func TestAppendsAreReadByStockGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var last plumbing.Hash
	for i := range 5 {
		last = appendCommit(t, s, fmt.Sprintf("note %d", i))
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "rev-parse", "main")); got != last.String() {
		t.Errorf("main is %s, want %s", got, last)
	}
	if got := git(t, s.Dir(), "show", "main:file.txt"); got != "note 4" {
		t.Errorf("file.txt holds %q", got)
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "rev-list", "--count", "main")); got != "5" {
		t.Errorf("%s commits, want 5", got)
	}
	fsck(t, s.Dir())
}

func TestClosedStoreRefusesEverything(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	h := appendCommit(t, s, "note")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func() error{
		"Object":    func() error { _, err := s.Object(h); return err },
		"Has":       func() error { _, err := s.Has(h); return err },
		"Size":      func() error { _, _, err := s.Size(h); return err },
		"Head":      func() error { _, err := s.Head(); return err },
		"Ref":       func() error { _, err := s.Ref("refs/heads/main"); return err },
		"Refs":      func() error { _, err := s.Refs(); return err },
		"SetHead":   func() error { return s.SetHead("refs/heads/main") },
		"Lock":      func() error { _, err := s.Lock(t.Context()); return err },
		"WritePack": func() error { _, err := s.WritePack(commitOf("x")); return err },
		"UpdateRef": func() error { return s.UpdateRef("refs/heads/main", h, h) },
		"DeleteRef": func() error { return s.DeleteRef("refs/heads/x", h) },
		"Close":     func() error { return s.Close() },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, gitstore.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
}
