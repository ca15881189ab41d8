package embed

import (
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a question waits for its vector. Those of a small model
// are there by then; what takes longer would be felt, and words answer it as
// well.
const patience = 100 * time.Millisecond

// maxQuestions is how many questions are remembered.
const maxQuestions = 512

// questions are the vectors of questions: known, or on the way.
type questions struct {
	patience time.Duration
	late     atomic.Bool   // the last one took longer than patience: the next ones do not wait
	turn     chan struct{} // held by the one that is computed

	mu    sync.Mutex
	known map[string]Vector
}

func newQuestions() *questions {
	return &questions{patience: patience, turn: make(chan struct{}, 1), known: map[string]Vector{}}
}

func (q *questions) get(text string) (Vector, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	v, ok := q.known[text]
	return v, ok
}

func (q *questions) put(text string, v Vector) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.known) >= maxQuestions {
		clear(q.known)
	}
	q.known[text] = v
}

// take takes the turn, if it is free before enough fires.
func (q *questions) take(enough <-chan time.Time) bool {
	select {
	case q.turn <- struct{}{}: // also if there is no time left
		return true
	default:
	}
	select {
	case q.turn <- struct{}{}:
		return true
	case <-enough:
		return false
	}
}

// Question is the vector of a question if it is known or there in time, else
// nil; then it is computed for the next time it is asked, unless another one
// has been computed for all that time.
func (m *Model) Question(text string) Vector {
	text = cut(text)
	q := m.asked
	if v, ok := q.get(text); ok {
		return v
	}
	wait := q.patience
	if q.late.Load() {
		wait = 0
	}
	enough := time.After(wait)
	if !q.take(enough) {
		return nil
	}
	done := make(chan Vector, 1)
	go func() {
		defer func() { <-q.turn }()
		start := time.Now()
		v := m.vector(m.question + text)
		q.put(text, v)
		q.late.Store(time.Since(start) > q.patience)
		done <- v
	}()
	select {
	case v := <-done:
		return v
	case <-enough:
		return nil
	}
}
