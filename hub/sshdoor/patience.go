package sshdoor

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/internal/problem"
)

// A patient channel gives a client only so long to take what it is sent, and to
// agree when it is closed. In SSH a client says how much it will take, and a
// closed channel ends when it says so too: one that does neither, and answers
// every keep-alive, would hold a command for ever.
type patient struct {
	gossh.Channel
	after   time.Duration
	cut     func()          // ends the connection
	over    context.Context // ends when the client has closed the channel too, or is gone
	leave   func()          // gives up the room for what is not read
	charge  func(n int)     // is told how many bytes were read
	trouble func()          // puts the brake on

	reading sync.Mutex // the library wakes only one of those who read when there is no more
}

func (p *patient) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	n, err := p.Channel.Read(b)
	p.charge(n)
	return n, err
}

func (p *patient) Write(b []byte) (int, error) { return p.write(p.Channel, b) }

// Stderr is the channel's, with the same patience.
func (p *patient) Stderr() io.ReadWriter { return &patientStderr{p.Channel.Stderr(), p} }

func (p *patient) write(w io.Writer, b []byte) (int, error) {
	giveUp := time.AfterFunc(p.after, func() { _ = p.Close() }) // the write ends with an error
	defer giveUp.Stop()
	return w.Write(b)
}

// Close ends reads and writes, at the latest with the connection.
func (p *patient) Close() error {
	giveUp := time.AfterFunc(p.after, p.cut)
	context.AfterFunc(p.over, func() { giveUp.Stop() })
	return p.Channel.Close()
}

// part closes the channel and waits until the client has done so as well, however
// long its last bytes take to reach it. Until then the library keeps the channel
// with what was sent to it, so that is thrown away.
func (p *patient) part() error {
	p.leave() // what comes is read from here on, however late the client agrees
	err := p.Channel.Close()
	_, rerr := io.CopyN(io.Discard, p, fewMore)
	if rerr == nil {
		p.trouble()
		p.cut()
	}
	<-p.over.Done()
	return errors.Join(err, rerr)
}

// fewMore is what may still be on its way when a command has ended. Who sends more does not listen.
const fewMore = 2 * window

// CloseWith is Close after a word about why, if err is one for the client.
func (p *patient) CloseWith(err error) error {
	if said, ok := errors.AsType[*problem.Problem](err); ok {
		_, werr := io.WriteString(p.Stderr(), tell(said))
		return errors.Join(werr, p.Close())
	}
	return p.Close()
}

type patientStderr struct {
	io.ReadWriter
	of *patient
}

func (p *patientStderr) Write(b []byte) (int, error) { return p.of.write(p.ReadWriter, b) }
