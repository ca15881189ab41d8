package search

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cairn/internal/event"
	"cairn/search/embed"
	"cairn/search/segfile"
)

// A Doc is a note as the index sees it. Title, Tags and Body are searched; the
// rest only filters. A word counts more in a title, unless the title is only
// the beginning of a long first line of the body.
type Doc struct {
	ID    event.ID
	Space string // as in the Batch, or empty
	Title string
	Body  string
	Tags  []string

	Kind, Harness, Device, Actor, Project string

	// Meaning ranks the note for a query that has one of the same embedder; nil
	// is none.
	Meaning embed.Vector

	Recorded time.Time // what Filter.Since and Filter.Until compare, to the millisecond
}

// A Mark says how far the index has come in one space.
type Mark struct {
	Epoch  uint64
	Commit [20]byte
	Tree   [20]byte
	Events int // how many events the space had
}

// A Batch is one step of one space: it is applied as a whole or not at all.
// Deleting an ID that is not there is no error. An ID in both Put and Delete
// is put; of one that is put twice the last counts.
type Batch struct {
	Space  string
	Put    []Doc
	Delete []event.ID
	Mark   Mark
}

// storedMark is a Mark as it lies in the index.
type storedMark struct {
	Schema int    `json:"schema"`
	Epoch  uint64 `json:"epoch"`
	Commit []byte `json:"commit"`
	Tree   []byte `json:"tree"`
	Events int    `json:"events"`
}

func encodeMark(m Mark) []byte {
	b, err := json.Marshal(storedMark{schema, m.Epoch, m.Commit[:], m.Tree[:], m.Events})
	if err != nil {
		panic(err) // numbers and bytes always have a form
	}
	return b
}

func decodeMark(b []byte) (Mark, error) {
	var s storedMark
	if err := json.Unmarshal(b, &s); err != nil {
		return Mark{}, fmt.Errorf("read a mark: %w", err)
	}
	if s.Schema != schema {
		return Mark{}, &SchemaError{Have: s.Schema, Want: schema}
	}
	m := Mark{Epoch: s.Epoch, Events: s.Events}
	if copy(m.Commit[:], s.Commit) != len(m.Commit) || copy(m.Tree[:], s.Tree) != len(m.Tree) {
		return Mark{}, fmt.Errorf("read a mark: a hash is too short")
	}
	return m, nil
}

// A document's key is what Bluge knows it by. No two spaces share one, and
// those of a space lie together.
func noteKey(space string, id event.ID) string { return space + keySep + string(id) }

// markKey sorts before every note, for no space has an empty name.
func markKey(space string) string { return keySep + space }

const keySep = "\x00"

// checkBatch refuses what could not be told apart later.
func checkBatch(b Batch) error {
	if b.Space == "" || strings.Contains(b.Space, keySep) {
		return fmt.Errorf("apply a batch: %q is no name of a space", b.Space)
	}
	for i := range b.Put {
		d := &b.Put[i]
		if d.ID == "" || len(d.ID) > segfile.MaxID || strings.Contains(string(d.ID), keySep) {
			return fmt.Errorf("apply a batch to %s: %q is no id", b.Space, d.ID)
		}
		if d.Space != "" && d.Space != b.Space {
			return fmt.Errorf("apply a batch to %s: note %s is of space %s", b.Space, d.ID, d.Space)
		}
	}
	return nil
}
