package hubwire

import "io"

// A Stream is the hub's side of one command: what the client sends and is sent.
type Stream interface {
	io.ReadWriteCloser
	// CloseWith closes it after a word to the client about why, if err is a
	// *problem.Problem.
	CloseWith(err error) error
}
