//go:build !windows

package localapi_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/agent/localapi"
	"cairn/internal/paths"
)

func socketOf(t *testing.T, home paths.Home) string {
	t.Helper()
	path, err := recordedSocket(home)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func recordedSocket(home paths.Home) (string, error) {
	b, err := os.ReadFile(filepath.Join(string(home), "agent.address"))
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(b))
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(home), name)
	}
	return name, nil
}

func rawConn(home paths.Home) (net.Conn, error) {
	path, err := recordedSocket(home)
	if err != nil {
		return nil, err
	}
	return net.Dial("unix", path)
}

func TestOnlyTheUserReachesTheSocket(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), longFolder(t)} {
		home := paths.Home(dir)
		serveAt(t, home, &fake{}, localapi.Options{})
		dial(t, home)
		socket := socketOf(t, home)
		if len(socket) > 103 {
			t.Errorf("%s has %d bytes", socket, len(socket))
		}
		for path, want := range map[string]fs.FileMode{
			socket:                              fs.ModeSocket | 0o600,
			filepath.Join(dir, "agent.address"): 0o600,
		} {
			if info, err := os.Lstat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
		if folder := filepath.Dir(socket); folder != dir {
			if info, err := os.Lstat(folder); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("%s: %v, %v", folder, info.Mode(), err)
			}
		}
	}
}

func TestTheSocketOfADeadAgentIsReplaced(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	leaveSocket(t, filepath.Join(string(home), "agent.sock"))
	leaveSocket(t, filepath.Join(string(home), "agent.new")) // of one that died while it started
	serveAt(t, home, &fake{}, localapi.Options{})
	dial(t, home)
}

func leaveSocket(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedRecordLeadsToNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, record := range map[string]string{
		"empty": "", "too long for a socket": strings.Repeat("x", 200), "too long for a file": "/" + strings.Repeat("x", 5000),
		"bytes at random": "\xff\x00\x1b[31m\n\r\t\x80", "a file": file, "below a file": file + "/agent.sock", "a folder": t.TempDir(),
	} {
		home := paths.Home(t.TempDir())
		if err := os.WriteFile(filepath.Join(string(home), "agent.address"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := localapi.Dial(t.Context(), home); !errors.Is(err, localapi.ErrAbsent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASocketSomebodyAnswersAtIsLeftAlone(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	owner, _ := listening(t, home)
	if _, err := owner.Listen(); !errors.Is(err, localapi.ErrServed) {
		t.Errorf("a second listener: %v", err)
	}
	conn, err := rawConn(home)
	if err != nil {
		t.Fatalf("the first listener is gone: %v", err)
	}
	conn.Close()
}

func TestAFileInPlaceOfTheSocketIsNotTouched(t *testing.T) {
	t.Parallel()
	home := paths.Home(t.TempDir())
	path := filepath.Join(string(home), "agent.sock")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	owner, err := localapi.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Release()
	_, err = owner.Listen()
	if _, ok := errors.AsType[*localapi.UnsafeFolderError](err); !ok {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("the file is now %q, %v", b, err)
	}
}
