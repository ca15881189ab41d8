package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// atOnce is how many requests are worked on at the same time. Further ones
	// wait in the input.
	atOnce = 256
	// eofPatience is how long the next answer may take once the input has
	// ended, endPatience all of them when the process is told to end.
	eofPatience = 10 * time.Second
	endPatience = 2 * time.Second
)

// A session carries messages between one client and the protocol server.
//
// It stands in place of mcp-go's StdioServer, which drops queued calls and
// cancels running ones at the end of its input, has no limit for a line, may
// handle a call before the initialize in front of it, and shares one session
// between all servers of a process.
type session struct {
	server *server.MCPServer
	client *server.InProcessSession
	log    *slog.Logger
	slots  chan struct{}
	saved  <-chan struct{} // closed when the newest write so far has been answered; for take alone
	atWork sync.WaitGroup
	open   atomic.Int64 // requests at work

	mu     sync.Mutex // guards what follows, and the order of the output
	out    io.Writer
	closed bool
	gone   context.CancelCauseFunc // ends the session when nothing can be written
}

func newSession(srv *server.MCPServer, out io.Writer, log *slog.Logger) *session {
	return &session{
		server: srv,
		client: server.NewInProcessSession("stdio", nil),
		log:    log,
		slots:  make(chan struct{}, atOnce),
		saved:  closedChannel(),
		out:    out,
	}
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// run answers until the input ends, ctx ends (which is no error), or the
// output fails.
func (s *session) run(ctx context.Context, in io.Reader) error {
	inner, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	s.gone = gone
	err := s.takeAll(s.server.WithContext(inner, s.client), in)
	left := s.finish(inner)
	switch {
	case ctx.Err() != nil:
		return nil
	case inner.Err() != nil:
		return context.Cause(inner)
	case err != nil:
		return err
	case left > 0:
		return &UnansweredError{Requests: left}
	}
	return nil
}

// takeAll hands every line on. It returns at the end of the input or of ctx.
func (s *session) takeAll(ctx context.Context, in io.Reader) error {
	type read struct {
		line line
		err  error
	}
	reads := make(chan read)
	go func() {
		lines := newLineReader(in)
		for {
			l, err := lines.next()
			select {
			case reads <- read{l, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-reads:
			if errors.Is(r.err, io.EOF) {
				return nil
			}
			if r.err != nil {
				return fmt.Errorf("read from the client: %w", r.err)
			}
			s.take(ctx, r.line)
		}
	}
}

// take answers a line, or sees to it that it is answered. What sets the stage
// for later messages is done before the next line is looked at.
func (s *session) take(ctx context.Context, l line) {
	m, bad := parse(l)
	switch {
	case bad != nil:
		s.write(failed(bad.id, bad.code, bad.reason))
	case m.answer:
		s.log.Debug("an answer came in to a question that was not asked")
	case m.id == nil, m.method == string(mcp.MethodInitialize):
		s.write(s.answer(ctx, m))
	default:
		s.start(ctx, m)
	}
}

// start answers m beside others, but not before the writes that came in
// earlier: what a client says in one order is saved in that order, and found
// by what it asks next.
func (s *session) start(ctx context.Context, m message) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	earlier, done := s.saved, make(chan struct{})
	switch {
	case writes(m.tool):
		s.saved = done
	case m.tool == "ping", m.method != string(mcp.MethodToolsCall) && m.method != string(mcp.MethodResourcesRead):
		earlier = closedChannel()
	}
	s.open.Add(1)
	s.atWork.Go(func() {
		defer func() { <-s.slots }()
		defer close(done)
		select {
		case <-earlier:
			s.write(s.answer(ctx, m))
			s.open.Add(-1)
		case <-ctx.Done():
		}
	})
}

// answer is the protocol's answer, one line under the id that the client
// gave, digit for digit; nil for a notification.
func (s *session) answer(ctx context.Context, m message) (line []byte) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(s.log, m.method, v)
			line = failed(m.id, mcp.INTERNAL_ERROR, "the server failed inside; it goes on")
		}
	}()
	reply := s.server.HandleMessage(ctx, m.text)
	switch r := reply.(type) {
	case nil:
		return nil
	case mcp.JSONRPCResponse:
		r.ID = mcp.NewRequestId(m.id)
		reply = r
	case mcp.JSONRPCError:
		r.ID = mcp.NewRequestId(m.id)
		reply = r
	}
	line, err := json.Marshal(reply)
	if err != nil {
		s.log.Error("an answer cannot be written as JSON", "method", m.method)
		return failed(m.id, mcp.INTERNAL_ERROR, "the answer cannot be written as JSON")
	}
	return line
}

// logPanic leaves out what was panicked with: it may hold a memory's text.
func logPanic(log *slog.Logger, where string, v any) {
	log.Error("a request failed inside", "in", where, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
}

// finish waits for the requests at work and closes the output to the rest,
// which it counts. Once ctx has ended they are given little time.
func (s *session) finish(ctx context.Context) int {
	done := make(chan struct{})
	go func() { s.atWork.Wait(); close(done) }()
	for before := s.open.Load(); ; before = s.open.Load() {
		if !within(eofPatience, done, ctx.Done()) || s.open.Load() == before {
			break
		}
	}
	if ctx.Err() != nil {
		select {
		case <-done:
		case <-time.After(endPatience):
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return int(s.open.Load())
}

// within waits for one of the channels; false once one of them is closed, true
// when the time is up.
func within(d time.Duration, done, ended <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-ended:
		return false
	case <-t.C:
		return true
	}
}
