package localapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/paths"
)

// The files in the home. The record holds the address of the socket: the name
// socketName for one in the home itself, wherever a process sees that home,
// or a path or pipe name as it is.
const (
	socketName = "agent.sock"
	recordName = "agent.address"
)

// An address is where an owner listens.
type address struct {
	path string // for the system
	note string // for the record
}

func recordPath(home paths.Home) string { return filepath.Join(string(home), recordName) }

func record(home paths.Home, a address) error {
	return atomicfile.Write(disk.OS, recordPath(home), []byte(a.note+"\n"), 0o600)
}

// recorded is where the owner of home listens, or listened.
func recorded(home paths.Home) (address, error) {
	b, err := os.ReadFile(recordPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return address{}, ErrAbsent
	}
	if err != nil {
		return address{}, fmt.Errorf("find the agent's socket: %w", err)
	}
	note := strings.TrimSpace(string(b))
	if note == "" {
		return address{}, ErrAbsent
	}
	if note == socketName {
		return address{path: filepath.Join(string(home), socketName), note: note}, nil
	}
	return address{path: note, note: note}, nil
}

// connect opens a connection to the owner of home. Errors: ErrAbsent,
// ErrHung, ErrForeign, or one of the system or of ctx.
func connect(ctx context.Context, home paths.Home) (net.Conn, error) {
	addr, err := recorded(home)
	if err != nil {
		return nil, err
	}
	conn, err := dial(ctx, addr.path)
	if err != nil {
		return nil, dialError(err)
	}
	if err := checkPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// sameHome says whether the agent that answered works for home. A copied home
// has a record that leads to the owner of the original.
func sameHome(home paths.Home, agent Info) bool {
	addr, err := recorded(home)
	if err != nil {
		return false
	}
	if addr.note == socketName {
		return true
	}
	ours, err := os.Stat(string(home))
	if err != nil {
		return false
	}
	theirs, err := os.Stat(agent.Home)
	return err == nil && os.SameFile(ours, theirs)
}

// homeHash is a short name for a home, the same however its path is written.
func homeHash(home paths.Home) (string, error) {
	path, err := filepath.EvalSymlinks(string(home))
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8]), nil
}
