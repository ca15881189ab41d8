// Package localapi is the way from the command line, the MCP processes and
// the hooks to the agent that owns a home.
//
// The owner holds a lock on a file that is never renamed (Own), listens on a
// socket that only the same user can reach (Owner.Listen) and answers there
// for an api.Agent (NewServer). A Client on the other side is an api.Agent
// again, with the same results and the same problems. The socket is a unix
// socket in the home, in a folder of the user's own under /tmp where the path
// of the home is too long for one, or a named pipe on Windows; a file in the
// home says which, because a client cannot rely on having the environment
// that the owner had.
//
// What goes over it is HTTP/1.1 with JSON: POST /v1/<method>. Lists of any
// length, those of Import and Export, go as frames (see frame.go). The paths
// /ping and /stop are outside of the numbered protocol, so that programs of
// different versions can at least tell each other apart and part in peace.
//
// The package leaves out on purpose starting an agent, deciding when an idle
// one ends, and working without one: those are decisions of its callers. It
// has no password: whoever may open the socket is the user.
//
// It promises that a request is carried out for a peer of the same user only,
// that a canceled call cancels the work on the other side, and that a process
// that holds the lock but does not answer is told apart from none (ErrHung,
// ErrAbsent), also when it stops answering in the middle of a call.
package localapi
