package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
)

// Version is the version of the file that this package writes.
const Version = 1

// Config is the content of the file.
type Config struct {
	Version int      `json:"version"`
	Name    string   `json:"name"`             // of the machine, for people
	Person  string   `json:"person,omitempty"` // at the hub
	Hub     *Hub     `json:"hub,omitempty"`
	Remotes []Remote `json:"remotes,omitempty"`
	// Durability is what a saved note survives: DurableFully, or empty for the
	// same, or DurableInProcess.
	Durability string `json:"durability,omitempty"`
	// Embedder names what gives notes their places, as package search/embed has
	// it; empty for none.
	Embedder string   `json:"embedder,omitempty"`
	Renewed  *Renewal `json:"renewed,omitempty"` // the last time
}

// A Renewal is a device key that was replaced because another copy of the
// machine went on with it.
type Renewal struct {
	From event.DeviceID `json:"from"`
	To   event.DeviceID `json:"to"`
	At   event.Time     `json:"at"`
}

// What a saved note survives.
const (
	DurableFully     = "full"    // a power cut
	DurableInProcess = "process" // the end of every process, not a power cut
)

// Hub is the hub the machine is enrolled at.
type Hub struct {
	ID          string `json:"id"`
	Address     string `json:"address"`     // host:port
	Fingerprint string `json:"fingerprint"` // SHA256:… of its host key
}

// Remote is where a space is synced to.
type Remote struct {
	Space string `json:"space"`
	Name  string `json:"name"`
	URL   string `json:"url"`
	Hub   bool   `json:"hub,omitempty"` // a cairn hub, as against any git remote
}

// ErrNone means that there is no file: the home has not been made.
var ErrNone = errors.New("the home has no configuration")

// A BadError reports a file that does not hold a configuration. It is left as
// it is: mend it by hand.
type BadError struct {
	Path   string
	Reason string
}

func (e *BadError) Error() string { return e.Path + ": " + e.Reason }

// Load reads the file at path. Errors: ErrNone, *BadError, or one of the file
// system. A member this version does not know is an error, so that a newer
// file is never cut down by writing it back.
func Load(fsys disk.FS, path string) (Config, error) {
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, ErrNone
	}
	if err != nil {
		return Config{}, err
	}
	var c Config
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Config{}, &BadError{Path: path, Reason: "is not a configuration of this version of cairn: " + err.Error()}
	}
	if c.Version != Version {
		return Config{}, &BadError{Path: path, Reason: fmt.Sprintf("has version %d, this cairn knows %d", c.Version, Version)}
	}
	if d := c.Durability; d != "" && d != DurableFully && d != DurableInProcess {
		return Config{}, &BadError{Path: path, Reason: fmt.Sprintf("durability is %q, not %q or %q", d, DurableFully, DurableInProcess)}
	}
	return c, nil
}

// Save writes c to path.
func Save(fsys disk.FS, path string, c Config) error {
	c.Version = Version
	if err := atomicfile.WriteJSON(fsys, path, c, "  ", 0o600); err != nil {
		return fmt.Errorf("store the configuration: %w", err)
	}
	return nil
}
