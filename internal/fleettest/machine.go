package fleettest

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/sync/replica"
)

// A Machine is one machine with its own home.
type Machine struct {
	*agent.Agent
	Home paths.Home

	// Clock is the machine's; it may be set at any time.
	Clock *Clock
	// Disk is what the home is on.
	Disk *Disk
	// Line is the machine's own network; nil unless it is Wired.
	Line *Line
	// Patience is what its agent has, from the next Start, with a silent hub.
	Patience replica.Patience

	t    testing.TB
	f    *Fleet
	name string
}

// Machine sets up a machine; it knows no hub yet.
func (f *Fleet) Machine(name string) *Machine {
	f.t.Helper()
	m := f.machine(name)
	if _, err := agent.MakeHome(f.t.Context(), m.Home, name); err != nil {
		f.t.Fatal(err)
	}
	m.Start()
	f.t.Cleanup(m.Stop)
	return m
}

// machine is a machine that has not started, with its home in a folder of its
// name.
func (f *Fleet) machine(name string) *Machine {
	return &Machine{Home: paths.Home(filepath.Join(f.dir, name)), Clock: new(Clock), Disk: newDisk(), t: f.t, f: f, name: name}
}

// Joined is a machine that has joined the hub as person.
func (f *Fleet) Joined(name, person string) *Machine {
	f.t.Helper()
	m := f.Machine(name)
	m.Join(f.Invite(person))
	return m
}

// Wired is Joined for a machine with a network of its own, which can be cut.
func (f *Fleet) Wired(name, person string) *Machine {
	f.t.Helper()
	m := f.Machine(name)
	m.Line = NewLine(f.t, f.Addr)
	m.Join(f.InviteAt(person, m.Line.Addr()))
	return m
}

// Kill ends the machine's agent without letting it write another byte.
func (m *Machine) Kill() {
	m.t.Helper()
	if m.Agent == nil {
		return
	}
	m.Disk.lose()
	// Nothing can be closed in order; what matters is that locks and sockets are free again.
	if err := m.Close(); err == nil {
		m.t.Logf("%s was killed and did not notice", m.name)
	}
	m.Agent, m.Disk = nil, newDisk()
}

// Start starts the machine's agent.
func (m *Machine) Start() {
	m.t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{m.t, m.name}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	a, err := agent.Own(m.t.Context(), agent.Options{Home: m.Home, Version: "test", Log: log, Now: m.Clock.Now, FS: m.Disk, Patience: m.Patience})
	if err != nil {
		m.t.Fatal(err)
	}
	m.Agent = a
}

// testWriter sends a log to the test's, where it shows if the test fails.
type testWriter struct {
	t    testing.TB
	name string
}

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s: %s", w.name, b)
	return len(b), nil
}

// Stop stops the machine's agent; it may be stopped already.
func (m *Machine) Stop() {
	if m.Agent == nil {
		return
	}
	if err := m.Close(); err != nil {
		m.t.Errorf("stop %s: %v", m.name, err)
	}
	m.Agent = nil
}

// Join joins the hub of an invite.
func (m *Machine) Join(invite string) {
	m.t.Helper()
	if _, err := m.Agent.Join(m.t.Context(), invite); err != nil {
		m.t.Fatalf("%s joins: %v", m.name, err)
	}
}

// Note saves a note and returns its id.
func (m *Machine) Note(space, text string) event.ID {
	m.t.Helper()
	return m.Save(space, &event.Observe{Content: text})
}

// Save saves an event and returns its id.
func (m *Machine) Save(space string, p event.Payload) event.ID {
	m.t.Helper()
	r, err := m.Remember(m.t.Context(), Draft(space, p))
	if err != nil {
		m.t.Fatalf("%s saves: %v", m.name, err)
	}
	return r.ID
}

// Draft is a draft by a person.
func Draft(space string, p event.Payload) api.Draft {
	return api.Draft{Space: space, Payload: p, Actor: event.Actor{Kind: event.ActorHuman, ID: "tester"}}
}

// Note is a draft of a note by a person.
func Note(space, text string) api.Draft { return Draft(space, &event.Observe{Content: text}) }

// Texts lists the live texts of a space, sorted.
func (m *Machine) Texts(space string) []string {
	m.t.Helper()
	answer, err := m.Log(m.t.Context(), api.Query{Limit: 100_000, Filter: api.Filter{Space: space}})
	if err != nil {
		m.t.Fatalf("%s lists: %v", m.name, err)
	}
	texts := []string{}
	for _, h := range answer.Hits {
		texts = append(texts, h.Text)
	}
	slices.Sort(texts)
	return texts
}

// Has waits until the live texts of a space are these.
func (m *Machine) Has(space string, want ...string) {
	m.t.Helper()
	slices.Sort(want)
	var got []string
	defer func() {
		if m.t.Failed() {
			m.t.Logf("%s has %q", m.name, got)
		}
	}()
	m.f.Until(m.name+" has the notes", func() bool {
		got = m.Texts(space)
		return slices.Equal(got, want)
	})
}

// Finds waits until a search finds the text.
func (m *Machine) Finds(question, text string) {
	m.t.Helper()
	m.f.Until(m.name+" finds "+text, func() bool {
		answer, err := m.Ask(m.t.Context(), api.Query{Text: question, Limit: 10})
		if err != nil {
			m.t.Fatalf("%s asks: %v", m.name, err)
		}
		return slices.ContainsFunc(answer.Hits, func(h api.Hit) bool { return h.Text == text })
	})
}
