package hub_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
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

	remote replica.Remote
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
	m := &replicated{t: h.t, log: log, name: name}
	m.through(r.Space("team"))
	return m
}

// through makes remote the way to the hub.
func (m *replicated) through(remote replica.Remote) {
	m.remote = remote
	m.Replica = replica.New(replica.Options{Log: m.log, Remote: remote, Name: "hub"})
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

// A watchedRemote says when a push is made again in smaller portions, or goes on
// with the next one.
type watchedRemote struct {
	replica.Remote
	next func()
}

func (w *watchedRemote) Push(ctx context.Context, o replica.Offer) (replica.Pushed, error) {
	pick, portions := o.Next, 0
	o.Next = func(ctx context.Context, to replica.Taker) (replica.Portion, error) {
		if portions++; portions > 1 {
			w.next()
		}
		return pick(ctx, to)
	}
	return w.Remote.Push(ctx, o)
}

// A push that the hub gives up because it takes too long is sent again in
// smaller portions.
func TestWhatTakesTooLongInOnePushGoesInSeveral(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	judged := map[event.ID]int{}
	again := make(chan struct{})
	// The first event is judged for longer than the push may take: until its
	// sender has heard that it was given up.
	decide := func(e event.Event) error {
		mu.Lock()
		first := len(judged) == 0
		judged[e.ID]++
		mu.Unlock()
		if first {
			select {
			case <-again:
			case <-time.After(30 * time.Second):
				t.Error("the push is not given up")
			}
		}
		return nil
	}
	h := open(t, hub.Options{Decide: decide, Pushes: repository.Limits{Whole: 2 * time.Second}})
	h.member("ana", devices.Write, "laptop", "team")
	laptop := h.replicate("laptop")
	laptop.through(&watchedRemote{laptop.remote, sync.OnceFunc(func() { close(again) })})
	laptop.sync()
	var texts []string
	for i := range 30 {
		texts = append(texts, fmt.Sprint("note ", i))
	}
	laptop.save(texts...)
	if d := laptop.sync(); d.Events != 30 || laptop.count() != 30 {
		t.Errorf("the push brought %d events of %d", d.Events, laptop.count())
	}
	mu.Lock()
	defer mu.Unlock()
	twice := 0
	for _, n := range judged {
		if n > 1 {
			twice++
		}
	}
	if len(judged) != 30 || twice == 0 {
		t.Errorf("%d events were judged, %d of them again", len(judged), twice)
	}
}
