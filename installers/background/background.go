package background

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"cairn/internal/lazyregexp"
)

// A Spec is what the service runs.
type Spec struct {
	Binary string            // absolute path of the program
	Home   string            // absolute path of cairn's home, which must exist
	Env    map[string]string // set for the service; no place for secrets, since others can read it. Empty on Windows.
}

// A Status is what the service manager says.
type Status string

// The states.
const (
	NotInstalled Status = "not installed"
	Stopped      Status = "stopped"
	Running      Status = "running"
	Failed       Status = "failed" // it ended with an error and is not started again by itself
)

// A Manager controls the service. Where there is no service manager every method except Preview returns an
// *UnavailableError. Methods are not safe for concurrent use with each other.
type Manager interface {
	// Install registers the service for every logon from now on, or renews its registration, and starts it. The error is a
	// *ForeignError if the name is taken.
	Install(ctx context.Context) error
	// Uninstall stops the service and removes its registration. It does nothing if there is none.
	Uninstall(ctx context.Context) error
	// Start starts the service now. It does nothing if the service runs. The error wraps ErrNotInstalled if there is none.
	Start(ctx context.Context) error
	// Stop stops the service until the next Start or logon. It does nothing if the service does not run.
	Stop(ctx context.Context) error
	// Status asks the service manager.
	Status(ctx context.Context) (Status, error)
	// Preview is the text that is registered: a unit, a property list, or the XML of a task.
	Preview() string
}

// New returns the manager for a system, named as in runtime.GOOS. If that is not the running one, only Preview works. It
// changes nothing. The error is an *UnavailableError if the system is not known.
func New(spec Spec, goos string) (Manager, error) {
	m, err := newManager(spec, goos, thisHost())
	if err != nil || goos == runtime.GOOS {
		return m, err
	}
	return elsewhere{preview: m.Preview()}, nil
}

func newManager(spec Spec, goos string, h host) (Manager, error) {
	if err := spec.check(goos); err != nil {
		return nil, err
	}
	switch goos {
	case "linux":
		return newSystemd(spec, h), nil
	case "darwin":
		return newLaunchd(spec, h), nil
	case "windows":
		return newTask(spec, h)
	default:
		return nil, &UnavailableError{Reason: "there is no service for " + goos}
	}
}

// arguments are the command line after the program.
func (s Spec) arguments() []string { return []string{"--home", s.Home, "agent", "run"} }

var (
	windowsAbs = lazyregexp.New(`^([A-Za-z]:[\\/]|\\\\)`)
	envName    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func (s Spec) check(goos string) error {
	for what, p := range map[string]string{"the program": s.Binary, "the home of cairn": s.Home} {
		if goos == "windows" && !windowsAbs().MatchString(p) || goos != "windows" && !path.IsAbs(p) {
			return fmt.Errorf("the path of %s is not absolute: %q", what, p)
		}
	}
	if goos == "linux" && strings.ContainsAny(s.Binary, `"'\`) {
		return fmt.Errorf("systemd starts no program with a quote or a backslash in its path: %q", s.Binary)
	}
	for name, value := range s.Env {
		if !envName().MatchString(name) {
			return fmt.Errorf("%q is no name for an environment variable", name)
		}
		if hasControl(value) {
			return fmt.Errorf("the environment variable %s holds a control character", name)
		}
	}
	if hasControl(s.Binary) || hasControl(s.Home) {
		return fmt.Errorf("a path holds a control character: %q, %q", s.Binary, s.Home)
	}
	return nil
}

// hasControl finds what none of the three kinds of text can hold.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F || r == '\uFFFD' || r == '\uFFFE' || r == '\uFFFF' })
}

// variables lists the environment in a fixed order.
func (s Spec) variables() []string {
	names := make([]string, 0, len(s.Env))
	for name := range s.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// elsewhere is the manager of a system that is not running here.
type elsewhere struct{ preview string }

func (e elsewhere) err() error {
	return &UnavailableError{Reason: "this machine runs " + runtime.GOOS}
}

func (e elsewhere) Install(context.Context) error          { return e.err() }
func (e elsewhere) Uninstall(context.Context) error        { return e.err() }
func (e elsewhere) Start(context.Context) error            { return e.err() }
func (e elsewhere) Stop(context.Context) error             { return e.err() }
func (e elsewhere) Status(context.Context) (Status, error) { return NotInstalled, e.err() }
func (e elsewhere) Preview() string                        { return e.preview }
