package aitools

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"cairn/internal/disk"
	"cairn/internal/lazyregexp"
)

// Env is what the adapters know of the machine and of what is wanted. All paths are absolute.
type Env struct {
	Home      string // of the user
	Binary    string // the cairn program, as the tools are to start it
	CairnHome string // the memory that the tools are to use; keeps the ledger, in the directory "connect"
	Project   string // connect for this project alone; empty for everything the user does
	GOOS      string

	Getenv   func(string) string
	LookPath func(program string) (string, error) // nil: nothing is found
	FS       disk.FS                              // nil: the operating system's
}

// HostEnv is the Env of this process. project may be empty.
func HostEnv(binary, cairnHome, project string) (Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Env{}, fmt.Errorf("find the home directory: %w", err)
	}
	return Env{
		Home: home, Binary: binary, CairnHome: cairnHome, Project: project,
		GOOS: runtime.GOOS, Getenv: os.Getenv, LookPath: exec.LookPath, FS: disk.OS,
	}, nil
}

// check refuses an Env from which a tool would be told something it cannot use. Tools start the program from any directory
// and without a shell, so nothing may be relative to one or left to one to expand.
func (e Env) check() error {
	for _, p := range []struct{ what, path string }{
		{"the home directory", e.Home}, {"the program", e.Binary}, {"the home of cairn", e.CairnHome}, {"the project", e.Project},
	} {
		if p.path == "" && p.what == "the project" {
			continue
		}
		if !isAbs(e.GOOS, p.path) {
			return fmt.Errorf("connect AI tools: the path of %s is not absolute: %q", p.what, p.path)
		}
		if strings.ContainsFunc(p.path, func(r rune) bool { return r < ' ' || r == 0x7F }) {
			return fmt.Errorf("connect AI tools: the path of %s holds a control character: %q", p.what, p.path)
		}
	}
	return nil
}

var windowsAbs = lazyregexp.New(`^([A-Za-z]:[\\/]|\\\\)`)

func isAbs(goos, p string) bool {
	if goos == "windows" {
		return windowsAbs().MatchString(p) || filepath.IsAbs(p)
	}
	return path.IsAbs(p)
}

func (e Env) fs() disk.FS {
	if e.FS == nil {
		return disk.OS
	}
	return e.FS
}

func (e Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// dir is the directory that the variable names, or else the fallback below the user's home.
func (e Env) dir(variable string, fallback ...string) (string, error) {
	value := e.getenv(variable)
	if value == "" {
		return filepath.Join(append([]string{e.Home}, fallback...)...), nil
	}
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		value = filepath.Join(e.Home, rest)
	}
	if !isAbs(e.GOOS, value) {
		return "", fmt.Errorf("%s is not an absolute path: %q", variable, value)
	}
	return filepath.Clean(value), nil
}

// base is the directory with a tool's own files: below the project if there is one, else where dir says.
func (e Env) base(variable, name string) (string, error) {
	if e.Project != "" {
		return filepath.Join(e.Project, name), nil
	}
	return e.dir(variable, name)
}

// namesHome tells whether a tool has to say which memory it means. What the user has in the environment does not reach the
// program through every tool, so anything but the default is written down.
func (e Env) namesHome() bool {
	return filepath.Clean(e.CairnHome) != filepath.Join(e.Home, ".cairn")
}

func (e Env) exists(name string) bool {
	_, err := e.fs().Stat(name)
	return err == nil
}

// uses tells whether the tool with that layout seems to be installed.
func (e Env) uses(l Layout) bool {
	if e.exists(l.Home) {
		return true
	}
	for _, program := range l.Programs {
		if e.LookPath == nil {
			return false
		}
		// A program in the current directory counts as well: it is asked whether it exists, not started.
		if _, err := e.LookPath(program); err == nil || errors.Is(err, exec.ErrDot) {
			return true
		}
	}
	return false
}
