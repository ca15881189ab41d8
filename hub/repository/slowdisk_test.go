package repository_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/sync/gitwire"
)

// A slow disk does not come to the end of what changes files below one folder, until it is released.
type slow struct {
	disk.FS
	below   string
	once    sync.Once
	reached chan struct{} // closed by the first change
	release chan struct{}
}

func newSlow(below string) *slow {
	return &slow{FS: disk.OS, below: below, reached: make(chan struct{}), release: make(chan struct{})}
}

func (d *slow) change(name string) {
	if strings.HasPrefix(name, d.below) {
		d.once.Do(func() { close(d.reached) })
		<-d.release
	}
}

func (d *slow) SyncDir(name string) error {
	d.change(name)
	return d.FS.SyncDir(name)
}

func (d *slow) Rename(from, to string) error {
	d.change(to)
	return d.FS.Rename(from, to)
}

// meanwhile does what must not wait for the disk while that is slow.
func (d *slow) meanwhile(do func() error) error {
	select {
	case <-d.reached:
	case <-time.After(20 * time.Second):
		return errors.New("nothing was changed on the slow disk")
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		return errors.New("it waits for the disk")
	}
}

// slowSet is a hub's repositories on a disk that is slow below one folder of them.
func slowSet(t *testing.T, h *hub, below string) (*repository.Set, *slow) {
	t.Helper()
	d := newSlow(filepath.Join(h.dir, below))
	set := repository.NewSet(d, h.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set, d
}

// A space that is being made keeps nobody out of another one, and whoever asks for it meanwhile gets the same.
func TestASpaceThatIsMadeSlowlyHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	set, d := slowSet(t, newHub(t, repository.Limits{}), "people/ana")
	var made [4]*repository.Repository
	var errs [4]error
	var asking sync.WaitGroup
	for i := range made {
		asking.Go(func() { made[i], errs[i] = set.Personal("ana", time.Now()) })
	}
	err := d.meanwhile(func() error {
		_, err := set.Shared("team")
		_, berr := set.Personal("ben", time.Now())
		return errors.Join(err, berr, set.Look(t.Context()))
	})
	if err != nil {
		t.Error(err)
	}
	close(d.release)
	asking.Wait()
	for i, r := range made {
		if r == nil || r != made[0] || errs[i] != nil {
			t.Errorf("the space was made twice or not at all: %v", errs[i])
		}
	}
}

// Where the note of who pushed last is written slowly, the next push begins all the same.
func TestAPushBeginsWhileAnotherOneIsNoted(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	set, d := slowSet(t, h, "leases")
	var err error
	if h.team, err = set.Shared("team"); err != nil {
		t.Fatal(err)
	}
	first, second := h.clone("laptop"), h.clone("desktop")
	pushed := make(chan answer, 1)
	go func() { pushed <- first.goOn() }()
	err = d.meanwhile(func() error {
		client, _ := h.serve(func(ctx context.Context, rw hubwire.Stream) error {
			_, err := h.team.ServePush(ctx, rw, h.pusher("desktop"))
			return err
		})
		_, err := gitwire.ReadAdvert(client)
		return errors.Join(err, client.Close())
	})
	if err != nil {
		t.Error(err)
	}
	close(d.release)
	taken(t, <-pushed)
	taken(t, second.goOn())
}
