package memory

import (
	"context"
	"sync"

	"cairn/agent/api"
	"cairn/agent/catchup"
	"cairn/internal/event"
	"cairn/search/embed"
)

// embedWork is the Embed under way.
type embedWork struct {
	mu       sync.Mutex // one at a time
	telling  sync.Mutex // guards progress
	progress catchup.Progress
}

func (w *embedWork) tell(p catchup.Progress) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.progress = p
}

// EmbedProgress says how far an Embed under way is, in notes.
func (s *Service) EmbedProgress() catchup.Progress {
	s.embeds.telling.Lock()
	defer s.embeds.telling.Unlock()
	return s.embeds.progress
}

// Embed gives vectors to the notes of all spaces that have none; see api.Agent.
func (s *Service) Embed(ctx context.Context) (api.Embedded, error) {
	s.embeds.mu.Lock()
	defer s.embeds.mu.Unlock()
	by, err := s.keeper.Embedder(ctx)
	if err != nil {
		return api.Embedded{}, Problem(err)
	}
	spaces, err := s.chosen("")
	if err != nil {
		return api.Embedded{}, err
	}
	for _, sp := range spaces { // rows that are made now have their vectors
		if err := sp.kept.Level(ctx); err != nil {
			return api.Embedded{}, Problem(err)
		}
	}
	before, missing, err := embeddingOf(ctx, by, spaces)
	if err != nil {
		return api.Embedded{}, err
	}
	made := 0
	defer s.embeds.tell(catchup.Progress{})
	tell := func(n int) {
		made += n
		s.embeds.tell(catchup.Progress{Running: true, Done: made, Total: before.Missing})
	}
	for i, sp := range spaces {
		if err := sp.kept.Embed(ctx, by, missing[i], tell); err != nil {
			return api.Embedded{}, Problem(err)
		}
	}
	after, _, err := embeddingOf(ctx, by, spaces)
	return api.Embedded{Embedder: by.Name(), Notes: after.Notes, Made: made, Unknown: after.Unknown}, err
}

// Embedding counts the notes of all spaces by their vectors. Errors: those of
// catchup.Keeper.Embedder, as a problem.
func (s *Service) Embedding(ctx context.Context) (catchup.Embedding, error) {
	by, err := s.keeper.Embedder(ctx)
	if err != nil {
		return catchup.Embedding{}, Problem(err)
	}
	spaces, err := s.chosen("")
	if err != nil {
		return catchup.Embedding{}, err
	}
	sum, _, err := embeddingOf(ctx, by, spaces)
	return sum, err
}

// embeddingOf counts the notes of spaces, and lists for each those without a
// vector.
func embeddingOf(ctx context.Context, by embed.Embedder, spaces []*space) (sum catchup.Embedding, missing []map[event.ID]bool, err error) {
	for _, sp := range spaces {
		n, without, err := sp.kept.Embedding(ctx, by)
		if err != nil {
			return sum, nil, Problem(err)
		}
		sum.Notes += n.Notes
		sum.Missing += n.Missing
		sum.Unknown += n.Unknown
		missing = append(missing, without)
	}
	return sum, missing, nil
}
