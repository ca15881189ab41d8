package gitwire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

// pipe connects a client to a server in the same process, without any buffer between them.
func pipe(t *testing.T, server func(net.Conn) error) (client net.Conn, done func() error) {
	t.Helper()
	client, remote := net.Pipe()
	ended := make(chan error, 1)
	go func() { defer remote.Close(); ended <- server(remote) }()
	t.Cleanup(func() { client.Close() })
	return client, func() error { client.Close(); return <-ended }
}

func TestOurClientAndOurServerUnderstandEachOther(t *testing.T) {
	hub, laptop := newRepo(), newRepo()
	hub.commit(t, "events/01/a")
	tip := hub.commit(t, "events/01/b")

	conn, done := pipe(t, func(c net.Conn) error { return gitwire.ServeUpload(context.Background(), c, hub) })
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil || ad.Refs["refs/heads/main"] != tip || ad.Head != "refs/heads/main" {
		t.Fatalf("%+v, %v", ad, err)
	}
	pack, err := gitwire.Fetch(context.Background(), conn, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{tip}})
	if err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if _, err := stored.ReadFrom(pack); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(done(), laptop.readPack(&stored)); err != nil {
		t.Fatal(err)
	}
	laptop.set(t, "refs/heads/main", tip)

	next := laptop.commit(t, "events/01/c")
	result, err := pushTo(t, hub, laptop, next)
	if want := (gitwire.Command{Old: tip, New: next, Ref: "refs/heads/main"}); err != nil || result.Landed != want || hub.main() != next {
		t.Errorf("%+v, %v", result, err)
	}
	_, err = pushTo(t, hub, laptop, laptop.commit(t, "events/01/secret"))
	refused, ok := errors.AsType[*gitwire.RejectedError](err)
	if !ok || strings.Join(refused.Messages, "|") != "a secret is in|events/01/secret" || hub.main() != next {
		t.Errorf("the secret: %v", err)
	}
}

func pushTo(t *testing.T, hub, laptop *repo, tip plumbing.Hash) (gitwire.PushResult, error) {
	t.Helper()
	conn, done := pipe(t, func(c net.Conn) error { return hub.servePush(context.Background(), c) })
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		t.Fatal(err)
	}
	have := ad.Refs["refs/heads/main"]
	cmd := gitwire.Command{Old: ad.Refs["refs/for/main"], New: tip, Ref: "refs/for/main"}
	result, err := gitwire.Push(context.Background(), conn, ad, cmd, gitwire.PushOptions{WritePack: func(w io.Writer) error {
		return laptop.WritePack(context.Background(), w, []plumbing.Hash{tip}, []plumbing.Hash{have})
	}})
	if err := done(); err != nil {
		t.Errorf("the hub says %v", err)
	}
	return result, err
}

func TestNothingToAskForIsNoError(t *testing.T) {
	hub := newRepo()
	for name, serve := range map[string]func(net.Conn) error{
		"fetch": func(c net.Conn) error { return gitwire.ServeUpload(context.Background(), c, hub) },
		"push":  func(c net.Conn) error { return hub.servePush(context.Background(), c) },
	} {
		conn, done := pipe(t, serve)
		if _, err := gitwire.ReadAdvert(conn); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(gitwire.Hangup(conn), done()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless writes until its reader is gone.
func endless(w io.Writer) error {
	for {
		if _, err := w.Write(make([]byte, 1<<16)); err != nil {
			return err
		}
	}
}

func TestAServerThatRefusesAtOnceIsHeard(t *testing.T) {
	conn, done := pipe(t, func(c net.Conn) error {
		req, err := gitwire.ReadPush(context.Background(), c, gitwire.PushCaps)
		if err != nil {
			return err
		}
		reply := gitwire.NewPushReply(c, req)
		reply.Message("this device is revoked")
		if err := reply.Report("", []gitwire.Result{{Ref: req.Commands[0].Ref, Reason: "revoked"}}); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, c) // as a hub drains a pack; the client must not go on for ever
		return err
	})
	cmd := gitwire.Command{New: oid("2"), Ref: "refs/for/main"}
	_, err := gitwire.Push(context.Background(), conn, pushAdvert, cmd, gitwire.PushOptions{WritePack: endless})
	refused, ok := errors.AsType[*gitwire.RejectedError](err)
	if !ok || refused.Reason != "revoked" || len(refused.Messages) != 1 {
		t.Errorf("%v", err)
	}
	if err := done(); err != nil {
		t.Errorf("the server says %v", err)
	}
}

func TestAPackThatCannotBeReadEndsThePush(t *testing.T) {
	conn, done := pipe(t, func(c net.Conn) error { _, err := io.Copy(io.Discard, c); return err })
	broken := errors.New("the disk is broken")
	cmd := gitwire.Command{New: oid("2"), Ref: "refs/for/main"}
	_, err := gitwire.Push(context.Background(), conn, pushAdvert, cmd, gitwire.PushOptions{WritePack: func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return errors.Join(err, broken)
	}})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := done(); err != nil {
		t.Errorf("the server says %v", err)
	}
}

func TestAWaitingClientEndsWithItsContext(t *testing.T) {
	why := errors.New("the user gave up")
	ad := &gitwire.Advert{Caps: append(gitwire.Capabilities{"multi_ack_detailed"}, gitwire.PushCaps...)}
	for name, call := range map[string]func(context.Context, net.Conn) error{
		"fetch": func(ctx context.Context, c net.Conn) error {
			_, err := gitwire.Fetch(ctx, c, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{oid("1")}})
			return err
		},
		"push": func(ctx context.Context, c net.Conn) error {
			cmd := gitwire.Command{New: oid("2"), Ref: "refs/for/main"}
			_, err := gitwire.Push(ctx, c, ad, cmd, gitwire.PushOptions{WritePack: endless})
			return err
		},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		conn, _ := pipe(t, func(c net.Conn) error {
			if _, err := c.Read(make([]byte, 100)); err != nil {
				return err
			}
			cancel(why)
			_, err := io.Copy(io.Discard, c)
			return err
		})
		if err := call(ctx, conn); !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A goodbye is a peer whose answer breaks off, and which ends the stream by itself a moment later.
type goodbye struct {
	end     chan struct{}
	hungUp  chan struct{}
	tooSoon atomic.Bool
}

func (g *goodbye) Read([]byte) (int, error) { return 0, io.EOF }

func (g *goodbye) Write([]byte) (int, error) {
	select {
	case <-g.end:
	case <-g.hungUp:
	}
	return 0, io.EOF
}

func (g *goodbye) Close() error {
	select {
	case <-g.end:
	default:
		g.tooSoon.Store(true)
		close(g.hungUp)
	}
	return nil
}

// A peer that cannot go on says why beside its answer. If its stream were closed as soon as the answer broke off, nobody
// would hear that.
func TestAPushLetsTheOtherSideFinish(t *testing.T) {
	t.Parallel()
	g := &goodbye{end: make(chan struct{}), hungUp: make(chan struct{})}
	time.AfterFunc(100*time.Millisecond, func() { close(g.end) })
	cmd := gitwire.Command{Old: oid("1"), New: oid("2"), Ref: "refs/heads/main"}
	_, err := gitwire.Push(context.Background(), g, pushAdvert, cmd, gitwire.PushOptions{WritePack: endless})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the push ends with %v", err)
	}
	if g.tooSoon.Load() {
		t.Error("the stream was closed before the other side had ended it")
	}
}
