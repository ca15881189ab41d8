package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/corpus"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// A series makes events of notes, one after the other, as one machine would
// have written them.
type series struct {
	space string
	key   device.Key
	notes []corpus.Note
}

func newSeries(space string, notes []corpus.Note) (*series, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a device key: %w", err)
	}
	return &series{space: space, key: device.FromPrivate(private), notes: notes}, nil
}

// take makes the next n events.
func (s *series) take(n int) ([]event.Event, error) {
	if n > len(s.notes) {
		return nil, fmt.Errorf("only %d notes are left, and %d are needed", len(s.notes), n)
	}
	events := make([]event.Event, n)
	for i, note := range s.notes[:n] {
		e, err := s.key.Sign(s.event(note))
		if err != nil {
			return nil, err
		}
		events[i] = e
	}
	clear(s.notes[:n]) // what is measured later must not have them in memory
	s.notes = s.notes[n:]
	return events, nil
}

func (s *series) event(n corpus.Note) event.Event {
	p := &event.Observe{Summary: n.Title, Content: n.Text}
	return event.Event{
		Schema: event.Schema, ID: event.NewID(n.At), Kind: p.Kind(), Space: s.space, Ref: event.MainRef,
		Observed: event.NewTime(n.At), Subject: p.Subject(), Layer: p.Kind().Layer(),
		Actor:     event.Actor{Kind: event.ActorAgent, ID: "bench", Harness: "bench", Device: s.key.ID()},
		Authority: event.Authority{Source: "agent"}, Classification: event.Private,
		Project: n.Project, Tags: n.Tags, Policy: 1, Payload: p,
	}
}

// save appends events in one go.
func save(ctx context.Context, l *eventlog.Log, events ...event.Event) error {
	_, err := l.Append(ctx, func(eventlog.Head) ([]event.Event, error) { return events, nil })
	return err
}

// A reader finds objects by id.
type reader interface {
	Object(plumbing.Hash) (gitstore.Object, error)
}

// objectsOf makes what an append of e after the commit parent has to store, the
// commit last, for those that are measured beside us.
func objectsOf(r reader, parent plumbing.Hash, e event.Event) ([]gitstore.Object, error) {
	b, err := event.Encode(e)
	if err != nil {
		return nil, err
	}
	before, err := history.ReadCommit(r, parent)
	if err != nil {
		return nil, err
	}
	blob := gitstore.NewObject(plumbing.BlobObject, b)
	tree, made, err := gittree.Insert(r, before.Tree, commitform.Path(e.ID), blob.Hash)
	if err != nil {
		return nil, err
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, parent, commitform.HeadOf(e)))
	return append(made, blob, commit), nil
}
