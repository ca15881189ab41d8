package repository

import (
	"context"
	"io"
	"sync"
	"time"

	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

// Limits bound what pushes may cost, and when their traces are tidied up. A zero field means its default.
type Limits struct {
	Pack     gitstore.Limits // of one push: 1 GiB, 2 million objects, 9 MiB an object, 16 GiB inflated
	Pushes   int             // that are looked at at once, half of them of one person: 4
	Arriving int             // that are under way at once, an eighth of them of one person: 32
	Stall    time.Duration   // without a byte while a pack arrives: 1 minute
	Whole    time.Duration   // for one push from its first command to its answer: 30 minutes
	Rest     time.Duration   // without a push until it is tidied up more thoroughly: 30 seconds
}

// WithDefaults is l with the default in each field that is zero.
func (l Limits) WithDefaults() Limits {
	setDefault(&l.Pack.Bytes, 1<<30)
	setDefault(&l.Pack.Objects, 2_000_000)
	setDefault(&l.Pack.ObjectSize, event.MaxFile+1<<20)
	setDefault(&l.Pack.Inflated, 16<<30)
	setDefault(&l.Pushes, 4)
	setDefault(&l.Arriving, 32)
	setDefault(&l.Stall, time.Minute)
	setDefault(&l.Whole, 30*time.Minute)
	setDefault(&l.Rest, eventlog.RestAfter)
	return l
}

// Lower is the lower of the limits of a push and those given; zero is none.
func (l Limits) Lower(lower gitstore.Limits) gitstore.Limits {
	p := l.Pack
	p.Bytes = lowest(p.Bytes, lower.Bytes)
	p.Objects = lowest(p.Objects, lower.Objects)
	p.Inflated = lowest(p.Inflated, lower.Inflated)
	return p
}

func lowest[T int | int64](most, wanted T) T {
	if wanted <= 0 {
		return most
	}
	return min(most, wanted)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// An entrance lets in a few pushes, one of a device at a time, and of one person
// only a part of all: whoever is slow on purpose keeps only their own out.
type entrance struct {
	slots  chan struct{}
	person int // slots for one

	mu      sync.Mutex // guards what follows
	devices map[event.DeviceID]chan struct{}
	people  map[string]chan struct{}
	here    map[event.DeviceID]int // pushes that are in or wait
}

// maxHere is how many pushes of one device are in or wait. Each that waits may
// have sent two megabytes already.
const maxHere = 4

func newEntrance(slots, person int) *entrance {
	return &entrance{
		slots: make(chan struct{}, slots), person: max(person, 1),
		devices: map[event.DeviceID]chan struct{}{}, people: map[string]chan struct{}{}, here: map[event.DeviceID]int{},
	}
}

// enter waits for the turn of the device and of its person, and for a slot.
// The caller calls leave. The error is errManyPushes, or the context's.
func (g *entrance) enter(ctx context.Context, by Pusher) (leave func(), err error) {
	if !g.count(by.Device, 1) {
		return nil, errManyPushes
	}
	device, person := g.turns(by)
	var held []chan struct{}
	leave = func() {
		for _, slot := range held {
			<-slot
		}
		g.count(by.Device, -1)
	}
	for _, slot := range []chan struct{}{device, person, g.slots} {
		if err := take(ctx, slot); err != nil {
			leave()
			return nil, err
		}
		held = append(held, slot)
	}
	return leave, nil
}

// count counts a push that comes or goes; false if there are too many.
func (g *entrance) count(device event.DeviceID, n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.here[device]+n > maxHere {
		return false
	}
	if g.here[device] += n; g.here[device] == 0 {
		delete(g.here, device)
	}
	return true
}

func (g *entrance) turns(by Pusher) (device, person chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return turn(g.devices, by.Device, 1), turn(g.people, by.Person, g.person)
}

func turn[K comparable](turns map[K]chan struct{}, of K, size int) chan struct{} {
	if turns[of] == nil {
		turns[of] = make(chan struct{}, size)
	}
	return turns[of]
}

func take(ctx context.Context, slot chan struct{}) error {
	select {
	case slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A watched reader gives up when nothing arrives for a while.
type watched struct {
	io.Reader
	timer *time.Timer
	after time.Duration
}

func watch(r io.Reader, after time.Duration, giveUp func()) *watched {
	return &watched{Reader: r, timer: time.AfterFunc(after, giveUp), after: after}
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.timer.Reset(w.after)
	}
	return n, err
}

func (w *watched) stop() { w.timer.Stop() }
