package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/paths"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/sync/eventlog"
)

// A home is a machine's memory in a test: real git, real index.
type home struct {
	t    testing.TB
	dir  paths.Home
	logs map[string]*eventlog.Log
	opt  memory.Options
	*memory.Service
}

func newHome(t testing.TB, change ...func(*memory.Options)) *home {
	return homeAt(t, t.TempDir(), change...)
}

// homeAt opens the home in dir, with its three spaces.
func homeAt(t testing.TB, dir string, change ...func(*memory.Options)) *home {
	t.Helper()
	h := &home{t: t, dir: paths.Home(dir), logs: map[string]*eventlog.Log{}}
	if err := disk.OS.MkdirAll(h.dir.Spaces(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"personal", "local", "team"} {
		space := commitform.Space{Name: name, ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"}
		log, err := eventlog.Create(disk.OS, h.dir.Space(name), space)
		if err != nil {
			t.Fatal(err)
		}
		h.logs[name] = log
		t.Cleanup(func() { log.Close() })
	}
	h.opt = memory.Options{
		FS: disk.OS, Home: h.dir, Key: device.FromPrivate(eventtest.Key("laptop")),
		Decide:  policy.Default().Decide,
		Trouble: func(err error) { t.Logf("trouble: %v", err) },
	}
	for _, c := range change {
		c(&h.opt)
	}
	h.open()
	t.Cleanup(h.close)
	return h
}

func (h *home) open() {
	h.t.Helper()
	s, err := memory.Open(h.opt)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, log := range h.logs {
		if err := s.Attach(log); err != nil {
			h.t.Fatal(err)
		}
	}
	h.Service = s
}

func (h *home) close() {
	h.t.Helper()
	if err := h.Service.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *home) restart() {
	h.t.Helper()
	h.close()
	h.open()
}

func note(text string) api.Draft { return api.Draft{Payload: &event.Observe{Content: text}} }

func pref(value string) api.Draft {
	return api.Draft{Payload: &event.Pref{Category: "style", Key: "indent", Value: value}}
}

func (h *home) save(d api.Draft) api.Receipt {
	h.t.Helper()
	r, err := h.Remember(h.t.Context(), d)
	if err != nil {
		h.t.Fatalf("save: %v", err)
	}
	return r
}

func (h *home) note(text string) event.ID {
	h.t.Helper()
	return h.save(note(text)).ID
}

func (h *home) act(p event.Payload) event.ID {
	h.t.Helper()
	return h.save(api.Draft{Payload: p}).ID
}

func (h *home) redact(id event.ID) { h.t.Helper(); h.act(&event.Redact{Target: id, Reason: "leaked"}) }

func (h *home) archive(id event.ID) {
	h.t.Helper()
	h.act(&event.Archive{Target: id, Direction: event.DirectionArchive})
}

// refuses expects a save to fail with the given code.
func (h *home) refuses(d api.Draft, code problem.Code) *problem.Problem {
	h.t.Helper()
	_, err := h.Remember(h.t.Context(), d)
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != code {
		h.t.Fatalf("got %v, want a problem with code %s", err, code)
	}
	return p
}

func (h *home) ask(q api.Query) api.Answer {
	h.t.Helper()
	a, err := h.Ask(h.t.Context(), q)
	if err != nil {
		h.t.Fatalf("ask %q: %v", q.Text, err)
	}
	return a
}

// finds asks until the index has caught up and compares the hits in order.
func (h *home) finds(text string, want ...event.ID) []api.Hit {
	h.t.Helper()
	return h.findsIn(api.Query{Text: text, Limit: 50}, want...)
}

func (h *home) findsIn(q api.Query, want ...event.ID) []api.Hit {
	h.t.Helper()
	a := h.settled(q)
	if got := idsOf(a.Hits); !slices.Equal(got, want) {
		h.t.Errorf("%q finds %v (%s), want %v", q.Text, got, a.Note, want)
	}
	return a.Hits
}

// settled is the first answer that does not say that it may be incomplete.
func (h *home) settled(q api.Query) api.Answer {
	h.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		a := h.ask(q)
		if !a.Partial {
			return a
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("still not level: %s", a.Note)
		}
	}
}

func idsOf(hits []api.Hit) []event.ID {
	var ids []event.ID
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func (h *home) log(q api.Query) []event.ID {
	h.t.Helper()
	a, err := h.Log(h.t.Context(), q)
	if err != nil || a.Note != "" {
		h.t.Fatalf("log: %v, %s", err, a.Note)
	}
	return idsOf(a.Hits)
}

func (h *home) show(ref string) api.Shown {
	h.t.Helper()
	s, err := h.Show(h.t.Context(), ref, true)
	if err != nil {
		h.t.Fatalf("show %s: %v", ref, err)
	}
	return s
}

func (h *home) events(space string) int {
	h.t.Helper()
	n := 0
	err := h.Export(context.Background(), space, func([]byte) error { n++; return nil })
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }

func contextWithCancel(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func (h *home) exported(space string) (out [][]byte) {
	h.t.Helper()
	err := h.Export(h.t.Context(), space, func(b []byte) error {
		out = append(out, slices.Clone(b))
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func victimOptions(dir string, fsys disk.FS, decide func(event.Event) error) memory.Options {
	return memory.Options{
		FS: fsys, Home: paths.Home(dir), Key: device.FromPrivate(eventtest.Key("laptop")), Decide: decide,
	}
}

// anythingGoes takes the gate away, for tests of many saves.
func anythingGoes(opt *memory.Options) { opt.Decide = func(event.Event) error { return nil } }
