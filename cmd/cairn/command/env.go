package command

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// Env is the world a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	GOOS           string
	// Terminal says whether a person watches stderr, so that progress is
	// worth showing.
	Terminal bool
	// Screen says whether a person reads stdout on a terminal.
	Screen bool
	// Executable is the absolute path of this program.
	Executable func() (string, error)
	// User is the name of the person at the keyboard, for the actor of what
	// is saved by hand.
	User string
}

// System is the world of this process.
func System() Env {
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv:     os.Getenv,
		GOOS:       runtime.GOOS,
		Terminal:   term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		Screen:     term.IsTerminal(int(os.Stdout.Fd())),
		Executable: program,
		User:       userName(),
	}
}

// program is the path by which this program was started, if that leads to it:
// a link to the newest version stays right when the version changes.
func program() (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", err
	}
	given, err := exec.LookPath(os.Args[0])
	if err != nil {
		return real, nil
	}
	given, err = filepath.Abs(given)
	if err != nil || !sameFile(given, real) {
		return real, nil
	}
	return given, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// userName is the login name without a Windows domain.
func userName() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "user"
	}
	return u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
}

// untilSignal is a context that ends when the process is asked to stop.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
}
