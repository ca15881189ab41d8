package gitwire

import "fmt"

// A ProtocolError reports a peer that does not keep to the protocol, or exceeds a limit of this package. The session is
// over. A server may tell the reason with PushReply.Fatal; a client should check that the address is a git server's.
type ProtocolError struct {
	Reason string
}

func (e *ProtocolError) Error() string { return "git protocol: " + e.Reason }

// An UnsupportedError reports something that git has and this package does not: a shallow repository, another hash, a
// signed push. Nothing was transferred. Ask for something else, or use a plain repository.
type UnsupportedError struct {
	What string
}

func (e *UnsupportedError) Error() string { return e.What + ": not supported, nothing was transferred" }

// A RemoteError is what the other side said before it ended the session. Nothing was transferred; show the message.
type RemoteError struct {
	Message string
}

func (e *RemoteError) Error() string { return "the remote says: " + e.Message }

// A RejectedError reports a push that the remote looked at and did not take. Nothing changed there.
// Messages are the lines it sent along, the oldest first, at most MaxMessages.
type RejectedError struct {
	Ref      string
	Reason   string
	Messages []string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("the remote refused %s: %s", e.Ref, e.Reason)
}
