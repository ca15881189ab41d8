package aitools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
)

// A tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// A machine is a home directory of its own, with nothing in it at first.
type machine struct {
	t   tester
	env Env
	dir string
}

func newMachine(t tester, dir string) machine {
	t.Helper()
	m := machine{t: t, dir: dir, env: Env{
		Home:      filepath.Join(dir, "home"),
		Binary:    filepath.Join(dir, "bin dir", "cairn"),
		CairnHome: filepath.Join(dir, "home", ".cairn"),
		GOOS:      "linux",
		FS:        disktest.Unsynced(disk.OS),
	}}
	if err := os.MkdirAll(m.env.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	return m
}

// with sets environment variables of the user, given as name and value in turn.
func (m machine) with(variables ...string) machine {
	m.env.Getenv = func(name string) string {
		for i := 0; i < len(variables); i += 2 {
			if variables[i] == name {
				return variables[i+1]
			}
		}
		return ""
	}
	return m
}

func (m machine) inProject() machine {
	m.env.Project = filepath.Join(m.dir, "project")
	if err := os.MkdirAll(m.env.Project, 0o755); err != nil {
		m.t.Fatal(err)
	}
	return m
}

func (m machine) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

func (m machine) write(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o640); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(m.path(name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

func (m machine) apply(changes []Change) {
	m.t.Helper()
	if err := Apply(context.Background(), m.env, changes); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) connect(tools ...Tool) []Change {
	m.t.Helper()
	changes, err := Plan(m.env, tools...)
	if err != nil {
		m.t.Fatal(err)
	}
	m.apply(changes)
	return changes
}

func (m machine) disconnect(tools ...Tool) []Change {
	m.t.Helper()
	changes, err := PlanRemove(m.env, tools...)
	if err != nil {
		m.t.Fatal(err)
	}
	m.apply(changes)
	return changes
}

// tree is every file with its mode and contents, and every directory, but not what cairn keeps for itself.
func (m machine) tree() map[string]string {
	m.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == m.env.CairnHome {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		out[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			out[name] += "\n" + string(text)
			return err
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

func (m machine) sameTree(what string, want map[string]string) {
	m.t.Helper()
	got := m.tree()
	for name, text := range want {
		if got[name] != text {
			m.t.Errorf("%s: %s is\n%q, was\n%q", what, name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			m.t.Errorf("%s: %s is new", what, name)
		}
	}
}

func actions(changes []Change) string {
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = string(c.Action)
	}
	return strings.Join(words, " ")
}

// refusal finds the one ManualError in err.
func refusal(t tester, err error) *ManualError {
	t.Helper()
	m, ok := errors.AsType[*ManualError](err)
	if !ok {
		t.Fatalf("got %v, want a *ManualError", err)
	}
	return m
}
