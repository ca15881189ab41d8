package memory

import (
	"context"
	"sync"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
)

// The size of one append.
const (
	appendEvents = 256
	appendBytes  = 16 << 20
)

// A request is one event on its way into the log.
type request struct {
	ctx   context.Context
	event event.Event // without its final id and signature, unless whole
	fact  projection.Fact
	size  int
	whole bool      // as exported: its bytes stay as they are
	when  time.Time // of the id; zero for a live event

	done    chan struct{}
	receipt api.Receipt // once done is closed
	err     error       // likewise
}

func newRequest(ctx context.Context, e event.Event) *request {
	return &request{
		ctx: ctx, event: e, fact: projection.FactOf(e), size: sizeOf(e), done: make(chan struct{}),
		receipt: api.Receipt{ID: e.ID, Space: e.Space, Kind: e.Kind},
	}
}

// sizeOf is about how many bytes the event takes.
func sizeOf(e event.Event) int { return len(e.Payload.Title()) + len(e.Payload.Body()) + 1024 }

func (r *request) finish(err error) {
	r.err = err
	close(r.done)
}

// wait returns when the request is done, or its context has ended. In the
// second case the event may be saved all the same.
func (r *request) wait() (api.Receipt, error) {
	select {
	case <-r.done:
		return r.receipt, r.err
	case <-r.ctx.Done():
		return api.Receipt{}, r.ctx.Err()
	}
}

// A queue holds the requests of a space while an append is under way.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	running bool
}

// put adds requests in order and says whether somebody has to work them off.
func (q *queue) put(rs []*request) (idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, rs...)
	idle = !q.running
	q.running = true
	return idle
}

// take is the requests for the next append; none ends the work. Those whose
// context has ended meanwhile are not among them.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*request
	bytes := 0
	for len(q.waiting) > 0 && len(out) < appendEvents && bytes < appendBytes {
		r := q.waiting[0]
		q.waiting = q.waiting[1:]
		if err := r.ctx.Err(); err != nil {
			r.finish(err)
			continue
		}
		out = append(out, r)
		bytes += r.size
	}
	q.running = len(out) > 0
	return out
}

// putBack returns requests that did not fit, to be the first next time.
func (q *queue) putBack(rs []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(append([]*request{}, rs...), q.waiting...)
}
