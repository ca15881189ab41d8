package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/atomicfile"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// Names in a hub's folder.
const (
	hostKeyFile  = "host_key"
	identityFile = "hub.json"
	auditDir     = "audit"
	// auditEventsFile says how far the records are events.
	auditEventsFile = "audit-events.json"
	policyDir       = "policy"
	initLock        = "init.lock"
	serveLock       = "serve.lock"
)

// format is the version of a hub's folder that this package writes.
const format = 1

// An identity is who a hub is, however its address changes.
type identity struct {
	Format  int        `json:"format"`
	Hub     event.ID   `json:"hub_id"`
	Created event.Time `json:"created"`
}

// Info is what Init made or found.
type Info struct {
	Hub     event.ID `json:"hub_id"`
	HostKey string   `json:"host_key"` // fingerprint, as ssh prints it
	Existed bool     `json:"existed"`  // there was a hub already; nothing was changed
}

func (i Info) String() string {
	state := "Made a hub"
	if i.Existed {
		state = "There is a hub already"
	}
	return fmt.Sprintf("%s. Its host key is\n%s\n", state, i.HostKey)
}

// Init makes a hub in the folder dir, which is made if it is missing. What is
// there already is kept; a hub that was only half made is completed.
func Init(ctx context.Context, dir string) (info Info, err error) {
	fsys := disk.OS
	if err := disk.MakeDir(fsys, dir, 0o700); err != nil {
		return Info{}, fmt.Errorf("make a hub: %w", err)
	}
	lock, err := disk.Lock(ctx, filepath.Join(dir, initLock))
	if err != nil {
		return Info{}, fmt.Errorf("make a hub: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	key, err := hostKey(fsys, dir)
	if err != nil {
		return Info{}, err
	}
	if err := devices.Create(ctx, fsys, dir); err != nil {
		return Info{}, fmt.Errorf("make a hub: %w", err)
	}
	if err := makeAuditSpace(fsys, dir); err != nil {
		return Info{}, fmt.Errorf("make a hub: %w", err)
	}
	// The identity comes last: with it the hub is whole.
	id, existed, err := makeIdentity(fsys, dir)
	return Info{Hub: id.Hub, HostKey: hubwire.Fingerprint(key.Public()), Existed: existed}, err
}

// hostKey is the key that is there, or a new one if the hub has none yet.
func hostKey(fsys disk.FS, dir string) (device.Key, error) {
	path := filepath.Join(dir, hostKeyFile)
	key, err := device.Load(fsys, path)
	if !errors.Is(err, device.ErrNoKey) {
		return key, wrapHostKey(path, err)
	}
	// A hub that has lost its key must not get another one unasked.
	if _, err := fsys.Lstat(filepath.Join(dir, identityFile)); err == nil {
		return device.Key{}, errHostKey(path, device.ErrNoKey)
	}
	return device.Create(fsys, path)
}

func wrapHostKey(path string, err error) error {
	if err == nil {
		return nil
	}
	return errHostKey(path, err)
}

// makeAuditSpace makes the space that only the hub writes to.
func makeAuditSpace(fsys disk.FS, dir string) error {
	spaces := repository.NewSet(fsys, dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	_, err := spaces.Audit(time.Now())
	return errors.Join(err, spaces.Close())
}

func makeIdentity(fsys disk.FS, dir string) (identity, bool, error) {
	id, err := readIdentity(fsys, dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, true, err
	}
	now := time.Now()
	id = identity{Format: format, Hub: event.NewID(now), Created: event.NewTime(now)}
	return id, false, atomicfile.WriteJSON(fsys, filepath.Join(dir, identityFile), id, " ", 0o600)
}

func readIdentity(fsys disk.FS, dir string) (identity, error) {
	path := filepath.Join(dir, identityFile)
	b, err := disk.ReadFile(fsys, path)
	if err != nil {
		return identity{}, err
	}
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return identity{}, &problem.Problem{Code: problem.Corrupt, Message: path + " is damaged", Hint: "restore it from a backup", Err: err}
	}
	if id.Format > format {
		return identity{}, &problem.Problem{Code: problem.NewerSchema, Message: "this hub was made by a newer cairn", Hint: "upgrade cairn here"}
	}
	if _, err := event.ParseID(string(id.Hub)); err != nil {
		return identity{}, &problem.Problem{Code: problem.Corrupt, Message: path + " is damaged", Hint: "restore it from a backup", Err: err}
	}
	return id, nil
}
