package search

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// health remembers damage. Bluge trusts the bytes of its files, and damaged
// ones make it read outside of them; it may then hold locks for ever, so after
// the first such panic nothing touches the files again.
type health struct {
	dir     string
	damaged atomic.Pointer[DamagedError]
}

func (h *health) err() error {
	if e := h.damaged.Load(); e != nil {
		return e
	}
	return nil
}

// spoiled remembers damage that was met where nobody waits for an answer.
func (h *health) spoiled(err error) {
	h.damaged.CompareAndSwap(nil, &DamagedError{Dir: h.dir, Err: err})
}

// watch turns a panic into a *DamagedError in err, and remembers such errors.
// It is called by defer.
func (h *health) watch(err *error) {
	if r := recover(); r != nil {
		*err = &DamagedError{Dir: h.dir, Err: fmt.Errorf("panic while reading it: %v", r)}
	}
	if e, ok := errors.AsType[*DamagedError](*err); ok {
		h.damaged.CompareAndSwap(nil, e)
	}
}
