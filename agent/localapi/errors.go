package localapi

import (
	"errors"
	"fmt"
)

// ErrAbsent means that no process serves the home; beside ErrLost, that one was
// just ending. Start an agent, or own the
// home and work in this process.
var ErrAbsent = errors.New("no agent is running for this home")

// ErrHung means that a process serves the home and does not answer, or stopped
// answering during a call. Do not wait for it: append under the log's own lock
// and leave the rest to the next owner. Asking again is safe, whether the work
// was done or not.
var ErrHung = errors.New("the agent of this home does not answer")

// ErrLost means that the agent went away while it was working for us. Whether
// the work was done is not known; asking again is safe.
var ErrLost = errors.New("the agent ended before it answered")

// ErrForeign means that the process behind the socket runs as another user.
// Nothing was sent. Run as the user whose home it is.
var ErrForeign = errors.New("the agent of this home runs as another user")

// ErrServed means that somebody answers at the socket although the lock was
// free. The socket was left alone. Stop that process first.
var ErrServed = errors.New("another process serves this home without holding its lock")

// A ProtocolError reports an agent that this program cannot talk to, because
// one of them is older. Ask it to end (Stop), and start another.
type ProtocolError struct{ Agent Info }

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the running agent (version %s, process %d) speaks another protocol: run \"cairn agent stop\"", e.Agent.Version, e.Agent.PID)
}

// An UnsafeFolderError reports a folder for sockets that others could reach,
// or a file in place of the socket. Nothing was changed.
type UnsafeFolderError struct {
	Path   string
	Reason string
}

func (e *UnsafeFolderError) Error() string {
	return fmt.Sprintf("%s %s: remove it, or choose a home with a shorter path", e.Path, e.Reason)
}
