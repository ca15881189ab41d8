package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
)

// Installed is what Install did.
type Installed struct {
	Hook    string `json:"hook"`    // the script
	Existed bool   `json:"existed"` // it was there as it is
	Repo    string `json:"repo"`
}

func (i Installed) String() string {
	said := "Wrote " + i.Hook
	if i.Existed {
		said = i.Hook + " is there already"
	}
	return said + fmt.Sprintf(`.
Whatever is pushed to %s is looked at now before it is taken.
Git unpacks it before that; this bounds what that may cost:
  git -C %s config receive.maxInputSize 256m
`, i.Repo, quote(i.Repo))
}

const scriptHead = `#!/bin/sh
# The gate of cairn in front of this repository, by "cairn hub hook install".
`

// Install writes the script that git runs before it takes a push to the bare
// repository repo: hooks/pre-receive, or a file in hooks/pre-receive.d where
// Gitea and Forgejo keep hooks of others. Command is the program with its
// arguments. A script of somebody else is not touched. Errors that somebody can
// do something about are *problem.Problem.
func Install(fsys disk.FS, repo string, command []string) (Installed, error) {
	head, err := gitstore.Inspect(fsys, repo)
	if err != nil {
		return Installed{}, asProblem(err)
	}
	if head.Ref != event.MainRef {
		return Installed{}, asProblem(gitstore.ErrDetached)
	}
	var words []string
	for _, w := range command {
		words = append(words, quote(w))
	}
	script := []byte(scriptHead + "exec " + strings.Join(words, " ") + "\n")
	path, err := place(fsys, repo)
	if err != nil {
		return Installed{}, err
	}
	there, err := disk.ReadFile(fsys, path)
	switch {
	case err == nil && bytes.Equal(there, script):
		return Installed{path, true, repo}, fsys.Chmod(path, 0o755)
	case err == nil && !bytes.HasPrefix(there, []byte(scriptHead)):
		return Installed{}, &problem.Problem{
			Code:    problem.Failed,
			Message: "there is another hook in " + path + ", which was not touched",
			Hint:    "have it run this as well, with the same standard input, and fail if that fails: " + strings.Join(words, " "),
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Installed{}, err
	}
	return Installed{Hook: path, Repo: repo}, atomicfile.Write(fsys, path, script, 0o755)
}

// place is where the script belongs.
func place(fsys disk.FS, repo string) (string, error) {
	hooks := filepath.Join(repo, "hooks")
	shared := filepath.Join(hooks, "pre-receive.d")
	info, err := fsys.Stat(shared)
	if err == nil && info.IsDir() {
		return filepath.Join(shared, "cairn"), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return filepath.Join(hooks, "pre-receive"), fsys.MkdirAll(hooks, 0o755)
}

// quote is a word as a shell reads it.
func quote(word string) string {
	return "'" + strings.ReplaceAll(filepath.ToSlash(word), "'", `'\''`) + "'"
}
