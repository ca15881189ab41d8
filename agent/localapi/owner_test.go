package localapi_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cairn/agent/localapi"
	"cairn/internal/disk"
	"cairn/internal/paths"
)

func TestAHomeHasOneOwner(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	_, err = localapi.Own(home)
	if taken, ok := errors.AsType[*disk.LockedError](err); !ok || taken.PID != os.Getpid() {
		t.Errorf("a second owner: %v", err)
	}
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := owner.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := localapi.Own(home)
	if err != nil {
		t.Fatalf("after it was released: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := localapi.Own(home + "/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a home that is not there: %v", err)
	}
}

func TestNobodyIsToldApartFromSomebodyWhoHangs(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	if _, err := localapi.Dial(t.Context(), home); !errors.Is(err, localapi.ErrAbsent) {
		t.Errorf("a new home: %v", err)
	}
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Release()
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := localapi.DialWith(t.Context(), home, 20*time.Millisecond); !errors.Is(err, localapi.ErrHung) {
		t.Errorf("an owner that never answers: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := localapi.Dial(ctx, home); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, localapi.ErrHung) {
		t.Errorf("a caller without the patience: %v", err)
	}
	ln.Close()
	if _, err := localapi.Dial(t.Context(), home); !errors.Is(err, localapi.ErrAbsent) {
		t.Errorf("an owner that has ended: %v", err)
	}
}

// listening is an owner that listens and does nothing else.
func listening(t *testing.T, home paths.Home) (*localapi.Owner, net.Listener) {
	t.Helper()
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { owner.Release() })
	ln, err := owner.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return owner, ln
}

// A process that was killed still listens while the system takes it down.
func TestAnAgentThatIsEndingIsNobody(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	_, ln := listening(t, home)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	if c, err := localapi.Dial(t.Context(), home); !errors.Is(err, localapi.ErrAbsent) {
		t.Errorf("dialed %v, %v", c, err)
	}
	if err := localapi.Stop(t.Context(), home); !errors.Is(err, localapi.ErrAbsent) {
		t.Errorf("stopped: %v", err)
	}
}

func TestAClientFollowsAnAgentThatIsStartedAgain(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	end := serveAt(t, home, &fake{}, localapi.Options{Info: localapi.Info{Version: "1", PID: 7}})
	c := dial(t, home)
	if got := c.Agent(); got.Version != "1" || got.PID != 7 {
		t.Errorf("dialed %+v", got)
	}
	end()
	if _, err := c.Status(t.Context()); !errors.Is(err, localapi.ErrAbsent) && !errors.Is(err, localapi.ErrLost) {
		t.Errorf("while nobody is there: %v", err)
	}
	if c.Alive(t.Context()) {
		t.Error("an agent that has ended is alive")
	}
	serveAt(t, home, &fake{}, localapi.Options{Info: localapi.Info{Version: "2"}})
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if agent, err := c.Ping(t.Context()); err != nil || agent.Version != "2" || !c.Alive(t.Context()) {
		t.Errorf("ping: %+v, %v", agent, err)
	}
}

func TestACopyOfAHomeDoesNotReachTheOwnerOfTheOriginal(t *testing.T) {
	t.Parallel()
	home := paths.Home(longFolder(t))
	serveAt(t, home, &fake{}, localapi.Options{})
	dial(t, home)
	other := paths.Home(t.TempDir())
	b, err := os.ReadFile(filepath.Join(string(home), "agent.address"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(other), "agent.address"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := localapi.Dial(t.Context(), other); !errors.Is(err, localapi.ErrAbsent) {
		t.Errorf("got %v, want ErrAbsent", err)
	}
}

// longFolder is a folder whose path is too long for a unix socket in it.
func longFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for len(dir) < 150 {
		dir = filepath.Join(dir, "a-rather-long-name-of-a-folder")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
