package catchup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
	"cairn/search/query"
	"cairn/sync/eventlog"
)

// ErrNoEmbedder means that Options name no embedder.
var ErrNoEmbedder = errors.New("no embedder is set")

// embedder is the one of the options for rows that are made now, once it has
// been loaded; nil if there is none, it cannot be loaded or it is slow, and
// notes go without.
func (k *Keeper) embedder() embed.Embedder {
	if k.opt.Embedder.Slow() {
		return nil
	}
	by, err := k.opt.Embedder.Wait(k.ctx)
	if err != nil {
		return nil
	}
	return by
}

// Embedder is the embedder. Errors: ErrNoEmbedder, those of embed.OpenWords,
// that of ctx.
func (k *Keeper) Embedder(ctx context.Context) (embed.Embedder, error) {
	by, err := k.opt.Embedder.Wait(ctx)
	if err == nil && by == nil {
		err = ErrNoEmbedder
	}
	return by, err
}

// meant is the words of a question, without the filters and signs in it.
func meant(text string) string {
	var words []string
	query.Parse(text).Words(
		func(w query.Word) { words = append(words, w.Text) },
		func(p query.Phrase) { words = append(words, p.Words...) },
	)
	return strings.Join(words, " ")
}

// Embedding counts the notes of a space by their vectors.
type Embedding struct {
	Notes   int // in the index
	Missing int // without a vector of the embedder
	Unknown int // with one that has no place: no word of theirs is known
}

// Embedding counts the notes of the space in the index as it is, and lists those
// without a vector.
func (s *Space) Embedding(ctx context.Context, by embed.Embedder) (out Embedding, missing map[event.ID]bool, err error) {
	missing = map[event.ID]bool{}
	name := by.Name()
	err = s.keeper.access.read(func(x rows) error {
		return x.Meanings(s.name, func(id event.ID, v embed.Vector) error {
			out.Notes++
			switch {
			case !v.IsOf(name):
				out.Missing++
				missing[id] = true
			case !v.HasPlace():
				out.Unknown++
			}
			return ctx.Err()
		})
	})
	return out, missing, err
}

// Embed gives a vector of by to the notes that Embedding has found missing, and
// calls made with how many more have one. Whatever it has done when ctx ends
// stays done. Errors: ErrBehind if the index cannot be written to now; that of
// ctx; those of the log.
func (s *Space) Embed(ctx context.Context, by embed.Embedder, missing map[event.ID]bool, made func(int)) error {
	if len(missing) == 0 {
		return nil
	}
	defer s.placeAlone()()
	err := s.embedAll(ctx, by, missing, made)
	s.keeper.sweepSoon() // the former rows
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}

func (s *Space) embedAll(ctx context.Context, by embed.Embedder, missing map[event.ID]bool, made func(int)) error {
	step := &embedStep{space: s, ctx: ctx, by: by, made: made}
	err := s.log.Added(ctx, plumbing.ZeroHash, s.facts.at().Tree, func(stored eventlog.Stored) error {
		if stored.Err != nil || !missing[stored.ID] {
			return nil
		}
		return step.add(stored.Event)
	})
	if err == nil {
		err = step.flush()
	}
	if err != nil {
		return fmt.Errorf("give the notes of space %s their vectors: %w", s.name, err)
	}
	return nil
}

// An embedStep is rows with their vectors that are put in in one go.
type embedStep struct {
	space *Space
	ctx   context.Context
	by    embed.Embedder
	made  func(int) // called with how many rows have been put in

	docs  []search.Doc
	begun time.Time
}

// The size of an embedStep: whoever saves waits no longer than it takes to put
// one in, and what is stopped loses no more than stepTime.
const (
	stepRows = 500
	stepTime = 2 * time.Second
)

func (t *embedStep) add(e event.Event) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if len(t.docs) == 0 {
		t.begun = time.Now()
	}
	if t.space.wanted(e.ID) {
		t.docs = append(t.docs, docOf(e, t.by))
	}
	if len(t.docs) < stepRows && time.Since(t.begun) < stepTime {
		return nil
	}
	return t.flush()
}

// flush puts rows in the place of those that are there. What has been taken
// out since, in whatever way, does not come back.
func (t *embedStep) flush() error {
	s := t.space
	s.indexing.Lock()
	defer s.indexing.Unlock()
	docs := slices.DeleteFunc(t.docs, func(d search.Doc) bool { return !s.wanted(d.ID) })
	t.docs = nil
	if len(docs) == 0 {
		return nil
	}
	err := s.keeper.access.write(func(x *search.Index) error {
		mark, _, err := x.Mark(s.name)
		if err != nil {
			return err
		}
		return x.Apply(t.ctx, search.Batch{Space: s.name, Mark: mark, Put: docs})
	})
	if err == nil {
		t.made(len(docs))
	}
	return err
}

// wanted says whether the event should have a row still.
func (s *Space) wanted(id event.ID) bool { return s.has(id) && !s.unsearchable(id) }

// has says whether the event is in the space still.
func (s *Space) has(id event.ID) (there bool) {
	s.Facts(func(set *projection.Set) { there = set.Has(id) })
	return there
}
