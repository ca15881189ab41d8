package catchup

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// embedder is the one of the options, once it has been loaded; nil if there is
// none or it cannot be loaded, and notes go without.
func (k *Keeper) embedder() embed.Embedder {
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
	err := s.embedAll(ctx, by, missing, made)
	s.keeper.sweepSoon() // the former rows
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}

// embedStep is how many notes are given their vectors in one go: whoever saves
// waits no longer than that takes.
const embedStep = 500

func (s *Space) embedAll(ctx context.Context, by embed.Embedder, missing map[event.ID]bool, made func(int)) error {
	var step []event.Event
	flush := func() error {
		if len(step) == 0 {
			return nil
		}
		n, err := s.embedSome(ctx, by, step)
		made(n)
		step = step[:0]
		return err
	}
	err := s.log.Added(ctx, plumbing.ZeroHash, s.facts.at().Tree, func(stored eventlog.Stored) error {
		if stored.Err != nil || !missing[stored.ID] {
			return nil
		}
		step = append(step, stored.Event)
		if len(step) < embedStep {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("give the notes of space %s their vectors: %w", s.name, err)
	}
	return nil
}

// embedSome puts rows in the place of those that are there. What has been taken
// out since, in whatever way, does not come back.
func (s *Space) embedSome(ctx context.Context, by embed.Embedder, events []event.Event) (n int, err error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	err = s.keeper.access.write(func(x *search.Index) error {
		mark, _, err := x.Mark(s.name)
		if err != nil {
			return err
		}
		b := search.Batch{Space: s.name, Mark: mark}
		for _, e := range events {
			if s.has(e.ID) && !s.unsearchable(e.ID) {
				b.Put = append(b.Put, docOf(e, by))
			}
		}
		n = len(b.Put)
		return x.Apply(ctx, b)
	})
	return n, err
}

// has says whether the event is in the space still.
func (s *Space) has(id event.ID) (there bool) {
	s.Facts(func(set *projection.Set) { there = set.Has(id) })
	return there
}
