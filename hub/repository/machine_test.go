package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// A machine is a clone with a log of its own.
type machine struct {
	t     testing.TB
	hub   *hub
	name  string
	store *gitstore.Store
	log   *eventlog.Log
	graph *history.Graph
	claim []plumbing.Hash // what it says that it pushed before
	shown func()          // called once a fetch was shown the refs, if not nil
}

func (h *hub) clone(name string) *machine {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), name+".git")
	if err := gitstore.Init(disk.OS, dir); err != nil {
		h.t.Fatal(err)
	}
	m := h.on(disk.OS, dir, name)
	head := m.fetch()
	if err := m.store.UpdateRef(event.MainRef, plumbing.ZeroHash, head); err != nil {
		h.t.Fatal(err)
	}
	m.open(disk.OS, dir)
	return m
}

// copy is a machine whose repository is a copy of the hub's files.
func (h *hub) copy(fsys disk.FS, name string) *machine {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), name+".git")
	if err := os.CopyFS(dir, os.DirFS(h.repo())); err != nil {
		h.t.Fatal(err)
	}
	m := h.on(fsys, dir, name)
	m.open(fsys, dir)
	return m
}

// on is a machine with a store and no log yet.
func (h *hub) on(fsys disk.FS, dir, name string) *machine {
	h.t.Helper()
	store, err := gitstore.Open(fsys, dir)
	if err != nil {
		h.t.Fatal(err)
	}
	m := &machine{t: h.t, hub: h, name: name, store: store, graph: history.New(store)}
	h.t.Cleanup(func() {
		if err := store.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return m
}

func (m *machine) open(fsys disk.FS, dir string) {
	m.t.Helper()
	var err error
	if m.log, err = eventlog.Open(fsys, dir, "team"); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := m.log.Close(); err != nil {
			m.t.Error(err)
		}
	})
}

// fetch brings the hub's objects over and returns the hub's head.
func (m *machine) fetch() plumbing.Hash {
	m.t.Helper()
	conn, end := m.hub.serve(m.hub.fetching)
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		m.t.Fatal(err)
	}
	head := ad.Refs[event.MainRef]
	if m.shown != nil {
		m.shown()
	}
	if known, err := m.store.Has(head); err != nil || known {
		conn.Close()
		// The hub sees that the client went away without asking for anything.
		_ = end()
		return head
	}
	pack, err := gitwire.Fetch(context.Background(), conn, ad, gitwire.FetchRequest{
		Wants: []plumbing.Hash{head}, Haves: m.graph.Sample([]plumbing.Hash{m.tip()}, 32),
	})
	if err != nil {
		m.t.Fatal(err)
	}
	q, err := m.store.Quarantine()
	if err == nil {
		err = errors.Join(q.Receive(context.Background(), pack, gitstore.Limits{}), q.Publish())
	}
	// The side-band goes on for a packet after the pack.
	if _, cerr := io.Copy(io.Discard, pack); cerr != nil {
		err = errors.Join(err, cerr)
	}
	if err := errors.Join(err, end()); err != nil {
		m.t.Fatal(err)
	}
	return head
}

func (m *machine) tip() plumbing.Hash {
	h, err := m.store.Ref(event.MainRef)
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		m.t.Fatal(err)
	}
	return h
}

// pull fetches and joins.
func (m *machine) pull() {
	m.t.Helper()
	head, tip := m.fetch(), m.tip()
	if err := m.graph.Add(head, tip); err != nil {
		m.t.Fatal(err)
	}
	joined, err := merge.Heads(m.store, m.graph, tip, head)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.store.WritePack(joined.Objects); err != nil {
		m.t.Fatal(err)
	}
	if joined.Commit == tip {
		return
	}
	if err := m.store.UpdateRef(event.MainRef, tip, joined.Commit); err != nil {
		m.t.Fatal(err)
	}
}

// event is a signed event of this machine.
func (m *machine) event(text string) event.Event {
	e := eventtest.Note(text)
	e.Space, e.Classification = "team", event.Public
	return eventtest.Signed(e, m.name)
}

// append commits events as cairn does.
func (m *machine) append(events ...event.Event) {
	m.t.Helper()
	_, err := m.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) note(text string) event.Event {
	m.t.Helper()
	e := m.event(text)
	m.append(e)
	return e
}

// An answer is what the hub said to a push.
type answer struct {
	outcome repository.Outcome
	result  gitwire.PushResult
	err     error // of the client
	session error // of the hub
	lines   []string
	last    plumbing.Hash // that the hub had on record before
}

func (a answer) refusals() []hubwire.Refusal {
	var list []hubwire.Refusal
	for _, line := range a.lines {
		if r, ok := hubwire.ParseRefusal(line); ok {
			list = append(list, r)
		}
	}
	return list
}

func (a answer) rules() []string {
	rules := map[string]bool{}
	for _, r := range a.refusals() {
		rules[r.Rule] = true
	}
	return slices.Sorted(maps.Keys(rules))
}

// push sends this machine's main to a ref of the hub.
func (m *machine) push(ref string) answer {
	m.t.Helper()
	return m.pushTip(ref, m.tip())
}

// pushTip sends a history, and more objects with it.
func (m *machine) pushTip(ref string, tip plumbing.Hash, more ...plumbing.Hash) answer {
	m.t.Helper()
	return m.send(ref, tip, func(w io.Writer, theirs plumbing.Hash) error { return m.encode(w, tip, theirs, more...) })
}

func (m *machine) encode(w io.Writer, tip, theirs plumbing.Hash, more ...plumbing.Hash) error {
	if err := m.graph.Add(tip); err != nil {
		return err
	}
	ids, err := history.NewObjects(context.Background(), m.store, m.graph, []plumbing.Hash{tip}, []plumbing.Hash{theirs})
	if err != nil {
		return err
	}
	return m.store.EncodePack(w, append(ids, more...))
}

// send pushes whatever pack writes.
func (m *machine) send(ref string, tip plumbing.Hash, pack func(w io.Writer, theirs plumbing.Hash) error) answer {
	m.t.Helper()
	return m.sendAs(m.hub.pusher(m.name), ref, tip, pack)
}

func (m *machine) sendAs(by repository.Pusher, ref string, tip plumbing.Hash, pack func(w io.Writer, theirs plumbing.Hash) error) answer {
	m.t.Helper()
	if m.hub.stock != nil {
		return m.sendToStock(ref, tip, pack)
	}
	var a answer
	conn, end := m.hub.serve(func(ctx context.Context, rw hubwire.Stream) (err error) {
		a.outcome, err = m.hub.team.ServePush(ctx, rw, by)
		return err
	})
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		a.err, a.session = err, end()
		return a
	}
	last, ok := hubwire.ParseLease(hubwire.Lease + "=" + ad.Caps.Value(hubwire.Lease))
	if !ok {
		m.t.Error("the hub does not say what it has on record")
	}
	a.last = last
	var options []string
	for _, c := range m.claim {
		options = append(options, hubwire.FormatLease([20]byte(c)))
	}
	cmd := gitwire.Command{Old: ad.Refs[ref], New: tip, Ref: ref}
	if tip.IsZero() && cmd.Old.IsZero() {
		cmd.Old = ad.Refs[event.MainRef] // a deletion has to name something
	}
	a.result, a.err = gitwire.Push(context.Background(), conn, ad, cmd, gitwire.PushOptions{
		Options:   options,
		WritePack: func(w io.Writer) error { return pack(w, ad.Refs[event.MainRef]) },
		Messages:  func(line string) { a.lines = append(a.lines, line) },
	})
	conn.Close()
	a.session = end()
	return a
}

// object stores a hand-made object on the machine.
func (m *machine) object(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	m.t.Helper()
	o := gitstore.NewObject(kind, data)
	if _, err := m.store.WritePack([]gitstore.Object{o}); err != nil {
		m.t.Fatal(err)
	}
	return o.Hash
}

func mergeCommit(m *machine, a, b plumbing.Hash) (gitstore.Object, []gitstore.Object, error) {
	return merge.Commit(m.store, a, b)
}

// pkt is one pkt-line.
func pkt(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }
