//go:build !windows

package localapi

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestAFolderThatOthersCanReachIsNotUsed(t *testing.T) {
	t.Parallel()
	uid := os.Getuid()
	cases := map[string]func(dir string) error{
		"open to others": func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o755)
		},
		"a link": func(dir string) error { return os.Symlink(filepath.Dir(dir), dir) },
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	}
	for name, make := range cases {
		base := t.TempDir()
		dir, err := userFolder(base, uid)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := userFolder(base, uid); err != nil || again != dir {
			t.Errorf("a second time: %s, %v", again, err)
		}
		if err := errors.Join(os.Remove(dir), make(dir)); err != nil {
			t.Fatal(err)
		}
		_, err = userFolder(base, uid)
		if unsafe, ok := errors.AsType[*UnsafeFolderError](err); !ok || unsafe.Path != dir {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Made by us, so it does not belong to the user with the next number.
	_, err := userFolder(t.TempDir(), uid+1)
	if _, ok := errors.AsType[*UnsafeFolderError](err); !ok {
		t.Errorf("of another user: %v", err)
	}
}

// strangers lets in one connection whose user cannot be told, then friends.
type strangers struct {
	net.Listener
	first net.Conn
}

func (s *strangers) Accept() (net.Conn, error) {
	if c := s.first; c != nil {
		s.first = nil
		return c, nil
	}
	return s.Listener.Accept()
}

func TestAStrangerIsTurnedAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	near, far := net.Pipe()
	friend, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer friend.Close()
	conn, err := sameUser{&strangers{Listener: ln, first: far}}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, ok := conn.(*net.UnixConn); !ok {
		t.Error("the stranger was let in")
	}
	if _, err := near.Write([]byte("x")); err == nil {
		t.Error("the stranger was not cut off")
	}
}
