package embed

import "time"

// Count is how many words are known.
func (w *Words) Count() int { return len(w.place) }

// Dims is how many numbers a vector has.
func (w *Words) Dims() int { return w.dims }

// SetPatience is how long questions wait.
func (m *Model) SetPatience(d time.Duration) { m.asked.patience = d }

// Limit is how many pieces of a text the model takes.
func (m *Model) Limit() int { return m.limit }

// Settle waits until no question is being computed.
func (m *Model) Settle() {
	m.asked.turn <- struct{}{}
	<-m.asked.turn
}
