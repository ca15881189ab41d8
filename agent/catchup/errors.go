package catchup

import "errors"

// ErrBehind means that the index does not hold all events yet and somebody is
// at work on that: a rebuild in this process, or the process that owns the
// index. Nothing is lost; answer from what is there and say so.
var ErrBehind = errors.New("the search index is behind the log and follows later")

// ErrClosed means that the Keeper was closed.
var ErrClosed = errors.New("the memory is closed")
