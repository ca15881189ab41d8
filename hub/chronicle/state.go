package chronicle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"cairn/hub/audit"
	"cairn/hub/repository"
	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// format is the version of the state's file that this package writes.
const format = 1

// A state is how far the writer has come.
type state struct {
	Format int         `json:"format"`
	Space  event.ID    `json:"space"` // that it writes to
	Place  audit.Place `json:"place"` // in the log
	hours
}

// load is the state in a file. Without one, or if it is damaged, the writer
// begins anew: what it has written it finds in the space.
func load(fsys disk.FS, path string) (state, error) {
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, fmt.Errorf("read how far the audit events are: %w", err)
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return state{}, nil
	}
	if s.Format > format {
		return state{}, &problem.Problem{Code: problem.NewerSchema, Message: path + " was written by a newer cairn", Hint: "upgrade cairn here"}
	}
	return s, nil
}

func (s state) save(fsys disk.FS, path string) error {
	s.Format = format
	if err := atomicfile.WriteJSON(fsys, path, s, "", 0o600); err != nil {
		return fmt.Errorf("keep how far the audit events are: %w", err)
	}
	return nil
}

// A State is how level the space is with the log.
type State struct {
	Waiting int         `json:"waiting"`           // records, as many as are read at once
	Since   *event.Time `json:"since,omitempty"`   // of the oldest of them
	Problem string      `json:"problem,omitempty"` // why they are not written
}

// look is what keeps the writer from the space.
func (c *Chronicle) look(ctx context.Context, at state) error {
	space, err := c.Spaces.Shared(hubwire.Audit)
	if errors.Is(err, repository.ErrNoSpace) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.isOurs(ctx, space, at)
}

// State looks at how level the space is, also while another process writes. It
// makes nothing: before the writer has come there is no space, and no trouble.
func (c *Chronicle) State(ctx context.Context) State {
	at, err := load(c.FS, c.Path)
	if err == nil {
		err = c.look(ctx, at)
	}
	waiting, _, lerr := c.Log.Since(at.Place)
	err = errors.Join(err, lerr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.trouble
	}
	s := State{Waiting: len(waiting)}
	if len(waiting) > 0 {
		s.Since = &waiting[0].At
	}
	if err != nil {
		s.Problem = problem.Of(err).Message
	}
	return s
}
