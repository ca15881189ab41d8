package memory

import (
	"context"
	"sync"

	"cairn/agent/api"
	"cairn/agent/catchup"
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
	before, err := s.Embedding(ctx)
	if err != nil {
		return api.Embedded{}, err
	}
	made := 0
	defer s.embeds.tell(catchup.Progress{})
	tell := func(n int) {
		made += n
		s.embeds.tell(catchup.Progress{Running: true, Done: made, Total: before.Missing})
	}
	for _, sp := range spaces {
		if err := sp.kept.Embed(ctx, by, tell); err != nil {
			return api.Embedded{}, Problem(err)
		}
	}
	after, err := s.Embedding(ctx)
	return api.Embedded{Embedder: by.Name(), Notes: after.Notes, Made: made, Unknown: after.Unknown}, err
}

// Embedding counts the notes of all spaces by their vectors. Errors: those of
// catchup.Keeper.Embedder, as a problem.
func (s *Service) Embedding(ctx context.Context) (catchup.Embedding, error) {
	var sum catchup.Embedding
	by, err := s.keeper.Embedder(ctx)
	if err != nil {
		return sum, Problem(err)
	}
	spaces, err := s.chosen("")
	if err != nil {
		return sum, err
	}
	for _, sp := range spaces {
		n, err := sp.kept.Embedding(ctx, by)
		if err != nil {
			return sum, Problem(err)
		}
		sum.Notes += n.Notes
		sum.Missing += n.Missing
		sum.Unknown += n.Unknown
	}
	return sum, nil
}
