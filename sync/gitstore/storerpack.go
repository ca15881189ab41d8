package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// PackfileWriter returns a writer that takes in one pack. Its objects are checked, and stored when the writer is closed;
// nothing is stored if the pack is not whole.
func (g *goGit) PackfileWriter() (io.WriteCloser, error) {
	q, err := g.s.Quarantine()
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	p := &packIntake{q: q, pipe: w, result: make(chan error, 1)}
	go func() {
		err := q.Receive(context.Background(), r, Limits{})
		if err == nil {
			err = errTrailing // for whoever writes on
			p.result <- nil
		} else {
			p.result <- err
		}
		r.CloseWithError(err)
	}()
	return p, nil
}

var errTrailing = errors.New("bytes follow the end of the pack")

// A packIntake hands what is written to it to a quarantine.
type packIntake struct {
	q      *Quarantine
	pipe   *io.PipeWriter
	result chan error
	wrote  bool
	failed error
}

func (p *packIntake) Write(b []byte) (int, error) {
	p.wrote = p.wrote || len(b) > 0
	n, err := p.pipe.Write(b)
	if err != nil {
		p.failed = err
	}
	return n, err
}

// Close stores the objects. Without a byte written there is nothing to store, and nothing wrong: go-git says itself when
// a pack is empty.
func (p *packIntake) Close() error {
	err := errors.Join(p.pipe.Close(), <-p.result)
	switch {
	case !p.wrote:
		err = nil
	case p.failed != nil:
		err = fmt.Errorf("store a pack: %w", p.failed)
	case err == nil:
		err = p.q.Publish()
	}
	return errors.Join(err, p.q.Discard())
}
