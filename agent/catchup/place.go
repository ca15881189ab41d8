package catchup

import (
	"context"

	"cairn/internal/event"
	"cairn/search/embed"
)

// maxUnplaced is how much of events is kept for their vectors, in bytes of
// text. What is more is read back from the log.
const maxUnplaced = 1 << 20

// unplaced is which rows lack the vector of a slow embedder. Nobody waits for
// one: a row is made without and, once there is a vector, made again.
type unplaced struct {
	some   bool          // that are not in events: the index has to be looked through
	events []event.Event // whose rows have just been made
	bytes  int           // of their texts

	work    chore  // see placeSoon
	stop    func() // ends the work under way; nil if there was none yet
	waiting int    // how many want to do it themselves
}

// keepNone leaves it to the index to say which.
func (u *unplaced) keepNone() { u.some, u.events, u.bytes = true, nil, 0 }

// unplace notes an event whose row is made without a vector.
func (s *Space) unplace(e event.Event) {
	if !s.keeper.opt.Embedder.Slow() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &s.unplaced
	u.events = append(u.events, e)
	if u.bytes += len(e.Payload.Body()); u.some || u.bytes > maxUnplaced {
		u.keepNone()
	}
}

// unplaceAll notes that any row may lack its vector.
func (s *Space) unplaceAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unplaced.keepNone()
}

// placeSoon has rows that lack one given their vectors in the background.
func (s *Space) placeSoon() {
	s.mu.Lock()
	due := s.keeper.opt.Embedder.Slow() && (s.unplaced.some || len(s.unplaced.events) > 0)
	s.mu.Unlock()
	if due {
		s.keeper.soon(&s.unplaced.work, gather, s.place)
	}
}

// place does it. What fails is done after the next Level.
func (s *Space) place() {
	ctx, stop := context.WithCancel(s.keeper.ctx)
	defer stop()
	some, events, free := s.takeUnplaced(stop)
	if !free {
		return
	}
	if err := s.placeThese(ctx, some, events); err != nil {
		s.unplaceAll()
		if ctx.Err() == nil {
			s.keeper.report(err)
		}
	}
}

// takeUnplaced begins the work that stop ends, unless somebody else is to do
// it.
func (s *Space) takeUnplaced(stop func()) (some bool, events []event.Event, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &s.unplaced
	if u.waiting > 0 {
		u.keepNone()
		return false, nil, false
	}
	some, events = u.some, u.events
	u.some, u.events, u.bytes, u.stop = false, nil, 0, stop
	return some, events, true
}

func (s *Space) placeThese(ctx context.Context, some bool, events []event.Event) error {
	by, err := s.keeper.opt.Embedder.Wait(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil // it stays so for the life of this process, and doctor tells
	}
	s.placing.Lock()
	defer s.placing.Unlock()
	if !some {
		return s.embedList(ctx, by, events)
	}
	_, missing, err := s.Embedding(ctx, by)
	if err != nil || len(missing) == 0 {
		return err
	}
	return s.embedAll(ctx, by, missing, func(int) {})
}

func (s *Space) embedList(ctx context.Context, by embed.Embedder, events []event.Event) error {
	step := &embedStep{space: s, ctx: ctx, by: by, made: func(int) {}}
	for _, e := range events {
		if err := step.add(e); err != nil {
			return err
		}
	}
	return step.flush()
}

// placeAlone ends what placeSoon has begun, and keeps it from beginning again
// until release is called.
func (s *Space) placeAlone() (release func()) {
	s.mu.Lock()
	u := &s.unplaced
	u.waiting++
	if u.stop != nil {
		u.stop()
	}
	s.mu.Unlock()
	s.placing.Lock()
	return func() {
		s.placing.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		u.waiting--
	}
}
