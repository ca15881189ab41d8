package gitstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

func TestOpenRefusesWhatCannotBeWrittenSafely(t *testing.T) {
	t.Parallel()
	foreign := func(err error) bool {
		_, ok := errors.AsType[*gitstore.ForeignFormatError](err)
		return ok
	}
	garbled := func(err error) bool {
		_, ok := errors.AsType[*gitstore.GarbledRefError](err)
		return ok
	}
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  func(error) bool
	}{
		"no folder":    {func(t *testing.T, dir string) { remove(t, dir) }, is(gitstore.ErrNotRepository)},
		"empty folder": {func(t *testing.T, dir string) { remove(t, dir); mkdir(t, dir) }, is(gitstore.ErrNotRepository)},
		"folder of a work tree": {func(t *testing.T, dir string) {
			remove(t, dir)
			git(t, filepath.Dir(dir), "init", "-q", dir)
		}, foreign},
		"no objects":           {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "objects")) }, is(gitstore.ErrNotRepository)},
		"detached HEAD":        {func(t *testing.T, dir string) { git(t, dir, "update-ref", "--no-deref", "HEAD", "main") }, is(gitstore.ErrDetached)},
		"HEAD on a tag":        {file("HEAD", "ref: refs/tags/v1\n"), is(gitstore.ErrDetached)},
		"empty HEAD":           {file("HEAD", ""), garbled},
		"HEAD of another kind": {file("HEAD", "ref: ../../etc/passwd\n"), garbled},
		"empty branch":         {file("refs/heads/main", ""), garbled},
		"branch of zeros":      {file("refs/heads/main", strings.Repeat("\x00", 41)), garbled},
		"half a branch":        {file("refs/heads/main", "0123456789\n"), garbled},
		"null branch":          {file("refs/heads/main", plumbing.ZeroHash.String()+"\n"), garbled},
		"torn packed-refs": {func(t *testing.T, dir string) {
			git(t, dir, "pack-refs", "--all")
			cut(t, filepath.Join(dir, "packed-refs"), 9)
		}, garbled},
		"shallow": {file("shallow", strings.Repeat("1", 40)+"\n"), is(gitstore.ErrShallow)},
		"partial clone": {func(t *testing.T, dir string) {
			git(t, dir, "config", "extensions.partialClone", "origin")
		}, is(gitstore.ErrPartialClone)},
		"promisor remote": {func(t *testing.T, dir string) {
			git(t, dir, "config", "remote.origin.promisor", "true")
		}, is(gitstore.ErrPartialClone)},
		"filtered remote": {func(t *testing.T, dir string) {
			git(t, dir, "config", "remote.origin.partialCloneFilter", "blob:none")
		}, is(gitstore.ErrPartialClone)},
		"sha256":        {configFile("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"), foreign},
		"reftable":      {configFile("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n"), foreign},
		"new extension": {configFile("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tteleport = true\n"), foreign},
		"new version":   {configFile("[core]\n\trepositoryformatversion = 2\n"), foreign},
		"a work tree":   {configFile("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), foreign},
		"alternates":    {file("objects/info/alternates", "/elsewhere/objects\n"), foreign},
		"linked tree":   {file("commondir", "../..\n"), foreign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			appendCommit(t, s, "note")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, s.Dir())
			again, err := gitstore.Open(disk.OS, s.Dir())
			if err == nil {
				again.Close()
			}
			if !c.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOpenTakesWhatStockGitMakes(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"as it is":           func(*testing.T, string) {},
		"explicit format":    configFile("[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha1\n\tnoop\n"),
		"empty shallow file": file("shallow", ""),
		"ordinary remote": func(t *testing.T, dir string) {
			git(t, dir, "remote", "add", "origin", "https://example.invalid/repo.git")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := history(t, 3)
			prepare(t, dir)
			s := openStore(t, dir)
			head, err := s.Head()
			if err != nil || head.Ref != "refs/heads/main" {
				t.Fatalf("Head() = %v, %v", head, err)
			}
			if want := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD")); head.Commit.String() != want {
				t.Errorf("head is %s, want %s", head.Commit, want)
			}
		})
	}
}

// unreadable is a disk on which this process may look into nothing.
type unreadable struct{ disk.FS }

func denied(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }

func (unreadable) OpenFile(name string, _ int, _ fs.FileMode) (disk.File, error) {
	return nil, denied("open", name)
}
func (unreadable) ReadDir(name string) ([]fs.DirEntry, error) { return nil, denied("open", name) }
func (unreadable) Stat(name string) (fs.FileInfo, error)      { return nil, denied("stat", name) }
func (unreadable) Lstat(name string) (fs.FileInfo, error)     { return nil, denied("lstat", name) }

// The disk is made up, because the superuser may read every folder.
func TestUnreadableFolderIsNotTakenForAMissingOne(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, err := gitstore.Open(unreadable{disk.OS}, s.Dir())
	if errors.Is(err, gitstore.ErrNotRepository) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want a permission error", err)
	}
}

func file(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { write(t, filepath.Join(dir, filepath.FromSlash(name)), text) }
}

func configFile(text string) func(*testing.T, string) { return file("config", text) }

func write(t testing.TB, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// cut takes n bytes off the end of a file.
func cut(t testing.TB, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Chmod(path, 0o644)
	}
	if err == nil {
		err = os.Truncate(path, info.Size()-n)
	}
	if err != nil {
		t.Fatal(err)
	}
}
