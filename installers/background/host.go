package background

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strings"

	"github.com/kardianos/service"
)

// A control is what is used of a service.Service.
type control interface {
	Install() error
	Uninstall() error
	Start() error
	Stop() error
	Restart() error
	Status() (service.Status, error)
}

// A host is the machine as the managers see it.
type host struct {
	home string // of the user; empty if unknown
	uid  int
	user string // as the system writes it, on Windows with its domain
	// control makes a service of a configuration, if the platform is the given one.
	control func(platform string, c *service.Config) (control, error)
	// run runs a program and returns what it prints to stdout.
	run func(ctx context.Context, program string, args ...string) (string, error)
}

func thisHost() host {
	h := host{uid: os.Getuid(), control: newControl, run: runProgram}
	if home, err := os.UserHomeDir(); err == nil {
		h.home = home
	}
	if u, err := user.Current(); err == nil {
		h.user = u.Username
	}
	return h
}

// program stands in for the service's own code, which this package has no use for.
type program struct{}

func (program) Start(service.Service) error { return nil }
func (program) Stop(service.Service) error  { return nil }

// newControl refuses every platform but the wanted one: where systemd is missing the library would write a script for the
// whole machine.
func newControl(platform string, c *service.Config) (control, error) {
	s, err := service.New(program{}, c)
	if err != nil {
		return nil, &UnavailableError{Reason: "the service manager is not known", Err: err}
	}
	if s.Platform() != platform {
		return nil, &UnavailableError{Reason: "the service manager is not " + strings.TrimPrefix(platform, "linux-")}
	}
	return s, nil
}

// A commandError is a program that failed, with what it said.
type commandError struct {
	command string
	said    string
	err     error
}

func (e *commandError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %v: %s", e.command, e.err, e.said))
}

func (e *commandError) Unwrap() error { return e.err }

func runProgram(ctx context.Context, program string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stderr.String())
		return stdout.String(), &commandError{command: program + " " + strings.Join(args, " "), said: said, err: err}
	}
	return stdout.String(), nil
}

// A registration is the file in which a service manager finds a service.
type registration int

const (
	noFile    registration = iota
	sameFile               // it says what it should
	otherFile              // cairn wrote it, and it says something else
)

// registered looks at the file. A file that was cut short when it was first written counts as ours.
func registered(path, want, mark string) (registration, error) {
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFile, nil
	case err != nil:
		return noFile, fmt.Errorf("look for the background service: %w", err)
	case string(have) == want:
		return sameFile, nil
	case len(have) == 0 || strings.Contains(string(have), mark):
		return otherFile, nil
	default:
		return noFile, &ForeignError{Path: path}
	}
}
