package sshdoor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	gliderssh "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/devices"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// A Session is one command of one known key.
type Session struct {
	Command     Command
	Who         devices.Identity // a live device or an invite, as of the start of the session
	Fingerprint string           // of the key that logged in
	Addr        string           // of the client
	ID          []byte           // the SSH session id, the same for all commands of a connection

	// Stream is the client's input and output. Its input ends when the client
	// has no more to say, which is not the end of the session; closing it is.
	Stream hubwire.Stream

	// Trouble says that something of the client's was refused before all of it was
	// read: for a minute, the person's next sessions wait the longer the more is
	// read of them.
	Trouble func()

	// Stopping is closed when the door is about to stop. A session that would
	// not end by itself ends then.
	Stopping <-chan struct{}
}

// maxRequests bounds what a client may ask of a session before its command.
const maxRequests = 64

// serveSession handles a channel of kind "session" from its opening to its end.
func (d *Door) serveSession(_ *gliderssh.Server, _ *gossh.ServerConn, offered gossh.NewChannel, ctx gliderssh.Context) {
	v := visitorOf(ctx)
	if !d.enterSession(v) {
		d.refuseSession(v, offered, "too many sessions on this connection, or the hub is stopping")
		return
	}
	defer d.leaveSession(v)
	ch, line, ok := d.begin(ctx, v, offered)
	if ch == nil {
		return
	}
	defer ch.leave()
	defer func() { d.logIf(ch.part()) }()
	if ok {
		status := d.run(ch.over, v, ch, line)
		d.logIf(sendExit(ch, status))
	}
}

// begin opens a session and waits for its command. An open channel takes two
// megabytes that nobody reads yet: so a connection has few that say nothing, and not
// for long, and nobody has more than there is room for.
func (d *Door) begin(ctx context.Context, v *visitor, offered gossh.NewChannel) (ch *patient, line string, ok bool) {
	select {
	case v.awaiting <- struct{}{}:
	case <-ctx.Done():
		return nil, "", false
	}
	defer func() { <-v.awaiting }()
	person, leave, err := d.findRoom(ctx, v)
	if err != nil {
		d.refuseSession(v, offered, err.Error())
		return nil, "", false
	}
	accepted, requests, err := offered.Accept()
	if err != nil {
		leave()
		d.logIf(err)
		return nil, "", false
	}
	defer time.AfterFunc(d.limits.Handshake, v.drop).Stop()
	line, ok = awaitCommand(requests)
	over, end := context.WithCancel(ctx)
	go func() {
		// The requests end when the client closes the channel; the end of its
		// input alone does not do that.
		refuseAll(requests)
		end()
	}()
	go d.ignore(v, accepted.Stderr()) // no command reads that of a client
	return &patient{
		Channel: accepted, after: d.limits.Stall, cut: v.drop, over: over, leave: leave,
		charge:  func(n int) { d.brake.charge(person, n, time.Now()) },
		trouble: func() { d.brake.trouble(person, time.Now()) },
	}, line, ok
}

func (d *Door) findRoom(ctx context.Context, v *visitor) (person string, leave func(), err error) {
	if person, err = d.personOf(v); err != nil {
		return "", nil, err
	}
	if err := d.brake.wait(ctx, person); err != nil {
		return "", nil, err
	}
	leave, err = d.room.enter(ctx, person)
	return person, leave, err
}

func (d *Door) refuseSession(v *visitor, offered gossh.NewChannel, reason string) {
	d.tally.unopened.Add(1)
	d.log.Debug("a session was refused", "addr", v.addr, "reason", reason)
	d.logIf(offered.Reject(gossh.ResourceShortage, reason))
}

// ignore takes what is sent where no command reads, so that it does not pile up.
// Who sends much of it means no good.
func (d *Door) ignore(v *visitor, r io.Reader) {
	if _, err := io.CopyN(io.Discard, r, d.limits.Unasked); err == nil {
		d.log.Debug("much was sent that no command reads", "addr", v.addr)
		v.drop()
	}
}

// awaitCommand reads the requests of a session up to its exec and refuses all
// others: env, pty-req, shell, subsystem, x11-req, auth-agent-req@openssh.com.
func awaitCommand(requests <-chan *gossh.Request) (line string, ok bool) {
	for range maxRequests {
		r, open := <-requests
		if !open {
			return "", false
		}
		var exec struct{ Line string }
		if r.Type != "exec" || gossh.Unmarshal(r.Payload, &exec) != nil {
			if r.Reply(false, nil) != nil {
				return "", false
			}
			continue
		}
		return exec.Line, r.Reply(true, nil) == nil
	}
	return "", false
}

func refuseAll(requests <-chan *gossh.Request) {
	for r := range requests {
		// An error means that the connection is ending, and requests with it.
		_ = r.Reply(false, nil)
	}
}

func sendExit(ch gossh.Channel, status int) error {
	_, err := ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{uint32(status)}))
	return err
}

// run runs a command and returns its exit status. A panic ends the command
// only; what was on its way is not logged.
func (d *Door) run(ctx context.Context, v *visitor, ch *patient, line string) (status int) {
	cmd, err := ParseCommand(line)
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("a command panicked", "command", cmd.Name, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			status = d.report(ch, cmd, errFailed)
		}
	}()
	if err == nil {
		if !cmd.reads() {
			go d.ignore(v, ch)
			ch.leave()
		}
		err = d.dispatch(ctx, v, ch, cmd)
	}
	return d.report(ch, cmd, err)
}

func (d *Door) dispatch(ctx context.Context, v *visitor, ch *patient, cmd Command) error {
	key := v.key()
	who, err := d.lookup(key)
	if err != nil {
		d.log.Error("look up a key", "err", err)
		return errMembers
	}
	fingerprint := hubwire.Fingerprint(key)
	if p := refusal(who, fingerprint); p != nil {
		return p
	}
	if p := mayRun(who, cmd); p != nil {
		return p
	}
	return d.handle(ctx, &Session{
		Command: cmd, Who: who, Fingerprint: fingerprint, Addr: v.RemoteAddr().String(), ID: v.conn().SessionID(),
		Stream: ch, Trouble: ch.trouble, Stopping: d.stopping,
	})
}

// report tells the client about err, if there is one, and returns the exit
// status. Only a problem is meant for the client; any other error stays here.
func (d *Door) report(ch gossh.Channel, cmd Command, err error) int {
	if err == nil {
		return 0
	}
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		if !gone(err) {
			d.log.Error("a command failed", "command", cmd.Name, "err", err)
		}
		p = errFailed
		if disk.Full(err) {
			p = errNoRoom
		}
	}
	_, werr := io.WriteString(ch.Stderr(), tell(p))
	if !cmd.Git() {
		werr = errors.Join(werr, json.NewEncoder(ch).Encode(hubwire.Failure{Error: p}))
	}
	d.logIf(werr)
	return p.Code.ExitCode()
}

// tell is a problem as lines of text, the first for programs if its rule says
// something to them.
func tell(p *problem.Problem) string {
	var b strings.Builder
	if p.Rule == hubwire.RuleLimit {
		b.WriteString(hubwire.Refusal{Rule: p.Rule}.String() + "\n")
	}
	b.WriteString("cairn: " + p.Message + "\n")
	if p.Hint != "" {
		b.WriteString("cairn: " + p.Hint + "\n")
	}
	return b.String()
}

// gone says whether err only means that the client went away.
func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}
