package proof_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
)

// writersEach is how many goroutines write in one process.
const writersEach = 16

// Deliberate faults of a writer, each of which the proof must find.
const (
	faultEarly   = "acknowledges before it has appended"
	faultInPlace = "rewrites the ref in place"
	faultBack    = "takes the branch back for a moment"
)

// note is a signed event of the space.
func note(text, device string) event.Event {
	e := eventtest.Note(text)
	e.Space, e.Classification = space, event.Public
	return eventtest.Signed(e, device)
}

// beWriter appends, from many goroutines at once, until it is killed, and says the id of each event that is acknowledged.
// It joins packs meanwhile.
func beWriter(dir, fault string) error {
	fsys := disk.OS
	if fault == faultInPlace {
		fsys = inPlaceFS{fsys}
	}
	l, err := eventlog.Open(fsys, dir, space)
	if err != nil {
		return err
	}
	w := writer{log: l, fault: fault, out: os.Stdout}
	failed := make(chan error)
	for n := range writersEach {
		go func() { failed <- w.appendAll(n) }()
	}
	go func() { failed <- w.compactAll() }()
	return <-failed
}

type writer struct {
	log   *eventlog.Log
	fault string

	mu  sync.Mutex
	out io.Writer
}

func (w *writer) appendAll(n int) error {
	for i := 0; ; i++ {
		if err := w.append(i, n); err != nil {
			return err
		}
	}
}

// append appends one event, or now and then several at once.
func (w *writer) append(i, n int) error {
	var events []event.Event
	for range 1 + i%8/7*4 {
		events = append(events, note(fmt.Sprintf("note %d of writer %d in process %d", i, n, os.Getpid()), "laptop"))
	}
	if w.fault == faultEarly {
		if err := w.say(events); err != nil {
			return err
		}
	}
	done, err := w.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	if err != nil {
		return err
	}
	if w.fault == faultBack && i%4 == 1 {
		return w.stepBack(done)
	}
	return w.say(events)
}

// say acknowledges events. What a pipe takes in one write of this length it takes whole.
func (w *writer) say(events []event.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var text strings.Builder
	for _, e := range events {
		fmt.Fprintln(&text, e.ID)
	}
	_, err := io.WriteString(w.out, text.String())
	return err
}

// stepBack takes the last commit out of the history and puts it back, if nobody else was quicker.
func (w *writer) stepBack(done []eventlog.Appended) error {
	lock, err := w.log.Store().Lock(context.Background())
	if err != nil {
		return err
	}
	defer lock.Unlock()
	head, err := w.log.Head()
	if err != nil || head.Commit != done[len(done)-1].Commit {
		return err
	}
	parent, err := parentOf(w.log, head.Commit)
	if err != nil {
		return err
	}
	store := w.log.Store()
	err = store.UpdateRef(head.Ref, head.Commit, parent)
	time.Sleep(5 * time.Millisecond)
	return errors.Join(err, store.UpdateRef(head.Ref, parent, head.Commit))
}

func (w *writer) compactAll() error {
	for {
		if _, err := w.log.Store().Compact(context.Background()); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// An inPlaceFS replaces a ref as go-git does: it empties the file and writes it anew.
type inPlaceFS struct{ disk.FS }

func (f inPlaceFS) Rename(from, to string) error {
	if !strings.HasSuffix(from, "main.lock") {
		return f.FS.Rename(from, to)
	}
	b, err := disk.ReadFile(f.FS, from)
	if err != nil {
		return err
	}
	ref, err := f.FS.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	time.Sleep(time.Millisecond) // as on a busy machine
	_, err = ref.Write(b)
	return errors.Join(err, ref.Close(), f.FS.Remove(from))
}
