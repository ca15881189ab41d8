package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/paths"
)

// A process is this program at work in another process.
type process struct {
	cmd   *exec.Cmd
	said  *output
	ended chan struct{} // closed when it has
	err   error         // of its end, once ended is closed
}

// output keeps what a process says on stderr; it is little.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(o.b.String())
}

// start starts this program; stop ends it at last.
func (w *work) start(stop func(*process) error, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(w.opt.Program, args...), said: &output{}, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr = w.dir, p.said
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	w.later(func() error { return p.end(stop) })
	return p, nil
}

// endPatience is how long a process may take to end by itself.
const endPatience = time.Minute

// end asks the process to end, and makes it if it does not.
func (p *process) end(stop func(*process) error) error {
	err := stop(p)
	select {
	case <-p.ended:
	case <-time.After(endPatience):
		err = errors.Join(err, p.cmd.Process.Kill())
		<-p.ended
	}
	return err
}

// alive is an error if the process has ended.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended: %w: %s", strings.Join(p.cmd.Args[1:], " "), errors.Join(p.err, errEnded), p.said)
	default:
		return nil
	}
}

var errEnded = errors.New("too early")

// interrupt ends a process that minds a signal. Windows has none to send.
func interrupt(p *process) error {
	if p.cmd.Process.Signal(os.Interrupt) == nil {
		return nil
	}
	if err := p.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// startAgent starts an agent of its own process for a home and returns a
// client of it.
func (w *work) startAgent(home paths.Home) (api.Agent, error) {
	stop := func(*process) error { return agent.Stop(context.Background(), home) }
	p, err := w.start(stop, "agent", "run", "--home", string(home), "--idle", "1m") // were it forgotten, it would end
	if err != nil {
		return nil, err
	}
	return w.client(home, p.alive)
}

// client connects to the agent of a home when it answers.
func (w *work) client(home paths.Home, alive func() error) (client api.Agent, err error) {
	var done func()
	err = until(w.ctx, "the agent answers", func() (bool, error) {
		client, done, err = agent.Running(w.ctx, home)
		if errors.Is(err, localapi.ErrAbsent) {
			return false, alive()
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	w.later(func() error { done(); return nil })
	return client, nil
}
