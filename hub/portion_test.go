package hub_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	gossh "golang.org/x/crypto/ssh"

	"cairn/hub"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/replica"
)

// A replicated machine syncs the space "team" with the hub as a machine of
// cairn's does.
type replicated struct {
	*replica.Replica
	t    *testing.T
	log  *eventlog.Log
	name string
}

func (h *house) replicate(name string) *replicated {
	h.t.Helper()
	space := commitform.Space{Name: "team", ID: event.NewID(time.Now())}
	log, err := eventlog.Create(disk.OS, filepath.Join(h.t.TempDir(), "team.git"), space)
	if err != nil {
		h.t.Fatal(err)
	}
	at := replica.Address{Host: h.addr, Fingerprint: gossh.FingerprintSHA256(hostKeyOf(h))}
	r, err := replica.NewHub(at, keyOf(name))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { r.Close(); log.Close() })
	return &replicated{
		t: h.t, log: log, name: name,
		Replica: replica.New(replica.Options{Log: log, Remote: r.Space("team"), Name: "hub"}),
	}
}

func (m *replicated) save(texts ...string) {
	m.t.Helper()
	var events []event.Event
	for _, text := range texts {
		e := eventtest.Note(text)
		e.Space, e.Classification = "team", event.Public
		events = append(events, eventtest.Signed(e, m.name))
	}
	_, err := m.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	if err != nil {
		m.t.Fatal(err)
	}
}

// sync pulls, pushes and pulls what the hub made of it.
func (m *replicated) sync() replica.Delivered {
	m.t.Helper()
	if _, err := m.Pull(context.Background()); err != nil {
		m.t.Fatal(err)
	}
	d, err := m.Push(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.Pull(context.Background()); err != nil {
		m.t.Fatal(err)
	}
	return d
}

func (m *replicated) count() int {
	m.t.Helper()
	head, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	ids, err := m.log.AddedIDs(context.Background(), plumbing.ZeroHash, head.Tree)
	if err != nil {
		m.t.Fatal(err)
	}
	return len(ids)
}

// A machine that has been away for long pushes more than the hub takes at
// once, while another one pushes too.
func TestWhatIsTooMuchForOnePushGoesInSeveral(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{Pushes: repository.Limits{Pack: gitstore.Limits{Objects: 60}}})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("ben", devices.Write, "desktop", "team")
	laptop, desktop := h.replicate("laptop"), h.replicate("desktop")
	laptop.sync()
	desktop.sync()
	var texts []string
	for i := range 50 {
		texts = append(texts, fmt.Sprint("note ", i))
	}
	laptop.save(texts...)
	desktop.save("another's")
	desktop.sync()
	if d := laptop.sync(); d.Events < 50 {
		t.Errorf("the push brought %d events", d.Events)
	}
	desktop.sync()
	if laptop.count() != 51 || desktop.count() != 51 {
		t.Errorf("%d and %d events", laptop.count(), desktop.count())
	}
}

// A push that the hub gives up because it takes too long is sent again in
// smaller portions, until it fits.
func TestWhatTakesTooLongInOnePushGoesInSeveral(t *testing.T) {
	t.Parallel()
	slow := func(event.Event) error { time.Sleep(50 * time.Millisecond); return nil }
	h := open(t, hub.Options{Decide: slow, Pushes: repository.Limits{Whole: time.Second}})
	h.member("ana", devices.Write, "laptop", "team")
	laptop := h.replicate("laptop")
	laptop.sync()
	var texts []string
	for i := range 30 { // half as many again as there is time for
		texts = append(texts, fmt.Sprint("note ", i))
	}
	laptop.save(texts...)
	if d := laptop.sync(); d.Events != 30 {
		t.Errorf("the push brought %d events", d.Events)
	}
	if laptop.count() != 30 {
		t.Errorf("%d events", laptop.count())
	}
}
