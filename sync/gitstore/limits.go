package gitstore

import "fmt"

// Limits bounds what Receive accepts, before any memory or disk is spent on it. A zero field stands for its default.
type Limits struct {
	Bytes      int64 // of the pack as it is sent; default 4 GiB
	Objects    int   // default 8 million; each takes about 50 bytes of memory while it is received
	ObjectSize int64 // of one object, inflated; default 16 MiB
	Inflated   int64 // of all objects together, and of what it takes to rebuild them; default 64 GiB
	Depth      int   // deltas between an entry and a whole object; default 250, as deep as git ever made them
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Bytes:      or(l.Bytes, 4<<30),
		Objects:    or(l.Objects, 8_000_000),
		ObjectSize: or(l.ObjectSize, 16<<20),
		Inflated:   or(l.Inflated, 64<<30),
		Depth:      or(l.Depth, 250),
	}
}

func or[T int | int64](v, byDefault T) T {
	if v == 0 {
		return byDefault
	}
	return v
}

func (l Limits) checkCount(n uint32) error {
	if int64(n) > int64(l.Objects) {
		return &LimitError{What: fmt.Sprintf("it has %d objects", n), Limit: int64(l.Objects)}
	}
	return nil
}

func (l Limits) checkSize(n int64) error {
	if n > l.ObjectSize {
		return &LimitError{What: fmt.Sprintf("an object in it has %d bytes", n), Limit: l.ObjectSize}
	}
	return nil
}

func (l Limits) checkInflated(n int64) error {
	if n > l.Inflated {
		return &LimitError{What: fmt.Sprintf("its objects come to %d bytes or more", n), Limit: l.Inflated}
	}
	return nil
}

func (l Limits) checkDepth(n int) error {
	if n > l.Depth {
		return &LimitError{What: fmt.Sprintf("a chain of %d deltas or more", n), Limit: int64(l.Depth)}
	}
	return nil
}
