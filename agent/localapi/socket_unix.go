//go:build !windows

package localapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"cairn/internal/paths"
)

// maxSocketPath is what fits everywhere: 107 bytes on Linux, 103 on macOS.
const maxSocketPath = 103

// sharedBase is where the folder for sockets of long homes is made. It is not
// read from the environment: not every tool hands that on to what it starts.
const sharedBase = "/tmp"

func chooseAddress(home paths.Home) (address, error) {
	path := filepath.Join(string(home), socketName)
	if len(path) <= maxSocketPath {
		return address{path: path, note: socketName}, nil
	}
	dir, err := userFolder(sharedBase, os.Getuid())
	if err != nil {
		return address{}, err
	}
	hash, err := homeHash(home)
	if err != nil {
		return address{}, err
	}
	path = filepath.Join(dir, hash+".sock")
	return address{path: path, note: path}, nil
}

// userFolder makes the folder in base that belongs to uid alone. One that was
// there before is used only if nobody else can enter it.
func userFolder(base string, uid int) (string, error) {
	dir := filepath.Join(base, "cairn-"+strconv.Itoa(uid))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return "", &UnsafeFolderError{Path: dir, Reason: "is not a folder"}
	case int(stat.Uid) != uid:
		return "", &UnsafeFolderError{Path: dir, Reason: "belongs to another user"}
	case info.Mode().Perm()&0o077 != 0:
		return "", &UnsafeFolderError{Path: dir, Reason: "can be entered by other users"}
	}
	return dir, nil
}

// listen binds under a name that no client looks for and renames the socket
// once only the owner can open it: at no moment is it wider open or missing.
func listen(path string) (net.Listener, error) {
	if err := vacant(path); err != nil {
		return nil, err
	}
	fresh := strings.TrimSuffix(path, ".sock") + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := reveal(fresh, path); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	ln.SetUnlinkOnClose(false)
	return &unixListener{UnixListener: ln, path: path}, nil
}

func reveal(fresh, path string) error {
	if err := os.Chmod(fresh, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// vacant checks that path is free, or a socket at which nobody listens.
func vacant(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return &UnsafeFolderError{Path: path, Reason: "is not a socket"}
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		conn.Close()
		return ErrServed
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil
	case errors.Is(err, syscall.EAGAIN):
		return ErrServed
	}
	return fmt.Errorf("look who listens: %w", err)
}

// unixListener takes its socket away when it is closed.
type unixListener struct {
	*net.UnixListener
	path string
}

func (l *unixListener) Close() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(l.UnixListener.Close(), err)
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// dialError tells nobody from somebody who is too busy to accept.
func dialError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED),
		// Nobody can listen at what a damaged record says.
		errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w (%w)", ErrAbsent, err)
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("%w (%w)", ErrHung, err)
	}
	return err
}

// checkPeer compares the user at the other end of conn with our own. A
// connection whose user cannot be told counts as somebody else's.
func checkPeer(conn net.Conn) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return ErrForeign
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrForeign, err)
	}
	uid, peerErr := -1, error(nil)
	err = raw.Control(func(fd uintptr) { uid, peerErr = peerUID(int(fd)) })
	if err := errors.Join(err, peerErr); err != nil {
		return fmt.Errorf("%w (%w)", ErrForeign, err)
	}
	if uid != os.Getuid() {
		return ErrForeign
	}
	return nil
}
