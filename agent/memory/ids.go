package memory

import (
	"sync"
	"time"

	"cairn/internal/event"
)

// liveIDs keeps the order of events that are saved one after the other within a
// millisecond, also in different spaces.
type liveIDs struct {
	mu   sync.Mutex
	last event.ID
}

// after is the id that the next one has to be greater than: newest, or the last
// one if that is of the same millisecond as now.
func (l *liveIDs) after(newest event.ID, now time.Time) event.ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != "" && l.last.Time().Equal(now.Truncate(time.Millisecond)) {
		return max(newest, l.last)
	}
	return newest
}

func (l *liveIDs) note(id event.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = max(l.last, id)
}
