package catchup_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/search"
	"cairn/sync/eventlog"
)

// A home is a folder with logs, and at most one Keeper at a time.
type home struct {
	t    *testing.T
	dir  string
	logs map[string]catchup.Log
	k    *catchup.Keeper
	in   map[string]*catchup.Space
}

func newHome(t *testing.T, spaces ...string) *home {
	h := &home{t: t, dir: t.TempDir(), logs: map[string]catchup.Log{}}
	for _, name := range spaces {
		h.logs[name] = h.create(name, filepath.Join(h.dir, name+".git"))
	}
	h.open()
	t.Cleanup(h.close)
	return h
}

func (h *home) create(name, dir string) *eventlog.Log {
	h.t.Helper()
	log, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: name, ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { log.Close() })
	return log
}

func (h *home) index() string { return filepath.Join(h.dir, "index") }

func (h *home) options() catchup.Options {
	return catchup.Options{
		FS: disk.OS, Index: h.index(),
		Facts:   func(space string) string { return filepath.Join(h.dir, "facts", space) },
		Trouble: func(err error) { h.t.Logf("trouble: %v", err) },
	}
}

func (h *home) open() {
	h.k = catchup.Open(h.options())
	h.in = h.attach(h.k)
}

func (h *home) attach(k *catchup.Keeper) map[string]*catchup.Space {
	h.t.Helper()
	in := map[string]*catchup.Space{}
	for name, log := range h.logs {
		s, err := k.Add(log)
		if err != nil {
			h.t.Fatal(err)
		}
		in[name] = s
	}
	return in
}

func (h *home) close() {
	h.t.Helper()
	if err := h.k.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart closes the Keeper, does something to the files, and opens another.
func (h *home) restart(meanwhile func()) {
	h.t.Helper()
	h.close()
	meanwhile()
	h.open()
}

func (h *home) append(space string, payloads ...event.Payload) []event.ID {
	h.t.Helper()
	var ids []event.ID
	_, err := appender(h.logs[space]).Append(h.t.Context(), func(head eventlog.Head) ([]event.Event, error) {
		var out []event.Event
		for _, p := range payloads {
			e := eventtest.Of(p)
			e.Space, e.Ref = space, head.Ref
			e = eventtest.Signed(e, "laptop")
			out, ids = append(out, e), append(ids, e.ID)
		}
		return out, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return ids
}

func appender(log catchup.Log) *eventlog.Log {
	if bent, ok := log.(*bentLog); ok {
		return bent.Log
	}
	return log.(*eventlog.Log)
}

func (h *home) note(space, text string) event.ID {
	h.t.Helper()
	return h.append(space, &event.Observe{Summary: text})[0]
}

func (h *home) level(space string) {
	h.t.Helper()
	if err := h.in[space].Level(h.t.Context()); err != nil {
		h.t.Fatalf("level %s: %v", space, err)
	}
}

// settle calls Level until everything is level, through any rebuild.
func (h *home) settle(space string) {
	h.t.Helper()
	settle(h.t, h.in[space])
}

func settle(t *testing.T, s *catchup.Space) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := s.Level(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, catchup.ErrBehind) || time.Now().After(deadline) {
			t.Fatalf("level %s: %v", s.Name(), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if level, err := s.IsLevel(); err != nil || !level {
		t.Fatalf("after Level: level %v, %v", level, err)
	}
}

func (h *home) found(text string, want ...event.ID) {
	h.t.Helper()
	if got := ask(h.t, h.k, text); !sameIDs(got, want) {
		h.t.Errorf("%q finds %v, want %v", text, got, want)
	}
}

func ask(t *testing.T, k *catchup.Keeper, text string) []event.ID {
	t.Helper()
	r, err := k.Ask(t.Context(), search.Query{Text: text, Limit: 100})
	if err != nil {
		t.Fatalf("ask %q: %v", text, err)
	}
	var ids []event.ID
	for _, hit := range r.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func sameIDs(a, b []event.ID) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func (h *home) events(space string, want int) {
	h.t.Helper()
	got := 0
	h.in[space].Facts(func(s *projection.Set) { got = s.Count() })
	if got != want || h.in[space].Mark().Events != want {
		h.t.Errorf("%d facts, the mark says %d, want %d", got, h.in[space].Mark().Events, want)
	}
	indexed, err := h.in[space].Indexed()
	if err != nil || indexed != want {
		h.t.Errorf("%d indexed, %v, want %d", indexed, err, want)
	}
}

func (h *home) noDifference(space string) {
	h.t.Helper()
	d, err := h.in[space].Compare(h.t.Context())
	if err != nil || len(d.Missing)+len(d.Extra) > 0 {
		h.t.Errorf("rows and facts: %+v, %v", d, err)
	}
}

// bentLog is a log of which a test changes what it says.
type bentLog struct {
	*eventlog.Log
	epoch  uint64
	newer  event.ID // shown as written by a newer program
	looked func()   // called between a look at the head and its answer; nil for none
}

func (l *bentLog) Head() (eventlog.Head, error) {
	h, err := l.Log.Head()
	if l.looked != nil {
		l.looked()
	}
	return h, err
}

func (l *bentLog) Epoch() (uint64, error) { return l.epoch, nil }

func (l *bentLog) Added(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error {
	return l.Log.Added(ctx, from, to, func(s eventlog.Stored) error {
		if s.ID == l.newer {
			s.Event, s.Err = event.Event{}, &event.NewerSchemaError{ID: s.ID, Schema: 9}
		}
		return fn(s)
	})
}
