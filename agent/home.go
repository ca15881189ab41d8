package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/commitform"
	"cairn/internal/config"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/sync/eventlog"
)

// MakeHome makes a home: its folder, device key, configuration and first two
// spaces. It may be called by many processes at once and again after it broke
// off; made says whether this call finished it.
func MakeHome(ctx context.Context, home paths.Home, machine string) (made bool, err error) {
	if ok, err := HasHome(home); ok || err != nil {
		return false, err
	}
	if err := disk.MakeDir(disk.OS, string(home), 0o700); err != nil {
		return false, fmt.Errorf("make the home: %w", err)
	}
	lock, err := disk.Lock(ctx, filepath.Join(string(home), "make.lock"))
	if err != nil {
		return false, fmt.Errorf("make the home: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if ok, err := HasHome(home); ok || err != nil {
		return false, err
	}
	if _, err := device.Load(disk.OS, home.DeviceKey()); errors.Is(err, device.ErrNoKey) {
		_, err = device.Create(disk.OS, home.DeviceKey())
		if err != nil {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	for _, space := range []string{scope.Personal, scope.Local} {
		if err := makeSpace(disk.OS, home, space, ""); err != nil {
			return false, err
		}
	}
	// The configuration comes last: it says that the home is complete.
	return true, config.Save(disk.OS, home.Config(), config.Config{Name: machine})
}

// HasHome says whether a home has been made.
func HasHome(home paths.Home) (bool, error) {
	_, err := disk.OS.Stat(home.Config())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the home: %w", err)
	}
	return true, nil
}

// makeSpace makes the repository of a space if it is missing. id is its
// identity; empty for a fresh one.
func makeSpace(fsys disk.FS, home paths.Home, name string, id event.ID) error {
	if !event.ValidSpaceName(name) {
		return problem.New(problem.Usage, "a space's name has lower-case letters, digits and dashes, at most 63 of them")
	}
	if id == "" {
		id = event.NewID(time.Now())
	}
	if err := disk.MakeDir(fsys, home.Spaces(), 0o700); err != nil {
		return fmt.Errorf("make space %s: %w", name, err)
	}
	l, err := eventlog.Create(fsys, home.Space(name), commitform.Space{Name: name, ID: id})
	if err != nil {
		return err
	}
	return l.Close()
}

func errNoHome(home paths.Home) error {
	p := problem.New(problem.NoStore, "there is no memory in "+string(home)+" yet")
	p.Hint = `"cairn note TEXT" makes one with its first note, "cairn init" an empty one`
	return p
}
