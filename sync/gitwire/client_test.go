package gitwire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

func TestAFetchAsksOnceAndReadsThePack(t *testing.T) {
	one, two := oid("1").String(), oid("2").String()
	ad := &gitwire.Advert{Caps: gitwire.ParseCapabilities("multi_ack_detailed side-band-64k ofs-delta thin-pack no-progress shallow agent=x")}
	rw := says(pkt("ACK "+two+" common\n", "ACK "+two+" ready\n", "ACK "+two+"\n", "\x02counting\rcount", "\x01PA", "\x01", "\x02ed\n", "\x01CK", ""))
	var said []string
	req := gitwire.FetchRequest{Wants: []plumbing.Hash{oid("1"), oid("3")}, Haves: []plumbing.Hash{oid("2")}, Thin: true,
		Messages: func(line string) { said = append(said, line) }}
	pack, err := gitwire.Fetch(context.Background(), rw, ad, req)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(pack); string(data) != "PACK" || err != nil {
		t.Errorf("pack %q, %v", data, err)
	}
	if want := []string{"counting", "counted"}; !reflect.DeepEqual(said, want) {
		t.Errorf("messages %q", said)
	}
	want := pkt("want "+one+" multi_ack_detailed side-band-64k ofs-delta thin-pack agent=cairn/1\n", "want "+oid("3").String()+"\n", "",
		"have "+two+"\n", "done\n")
	if rw.heard.String() != want || rw.closed {
		t.Errorf("asked %q", rw.heard.String())
	}
}

func TestAFetchFromASimpleServer(t *testing.T) {
	rw := says(pkt("NAK\n") + "PACK")
	pack, err := gitwire.Fetch(context.Background(), rw, &gitwire.Advert{}, gitwire.FetchRequest{Wants: []plumbing.Hash{oid("1")}})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(pack); string(data) != "PACK" || err != nil {
		t.Errorf("pack %q, %v", data, err)
	}
}

// fetch plays a server's words to a client that wants everything and reads the whole pack.
func fetch(server string) error {
	ad := &gitwire.Advert{Caps: gitwire.Capabilities{"side-band-64k", "multi_ack_detailed"}}
	pack, err := gitwire.Fetch(context.Background(), says(server), ad, gitwire.FetchRequest{Wants: []plumbing.Hash{oid("1")}})
	if err == nil {
		_, err = io.Copy(io.Discard, pack)
	}
	return err
}

func TestAFetchThatFailsSaysHow(t *testing.T) {
	isCut := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
	says := func(words string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*gitwire.RemoteError](err)
			return ok && e.Message == words
		}
	}
	for name, c := range map[string]struct {
		server string
		typed  func(error) bool
	}{
		"error line":       {pkt("ERR go away\n"), says("go away")},
		"error in band":    {pkt("NAK\n", "\x01PA", "\x03out of\nmemory\n"), says("out of memory")},
		"vanishes at once": {"", isCut},
		"vanishes in acks": {pkt("ACK " + oid("1").String() + " common\n"), isCut},
		"vanishes in pack": {pkt("NAK\n", "\x01PA"), isCut},
		"cut in a line":    {pkt("NAK\n") + "0010\x01PA", isCut},
		"cut in a length":  {pkt("NAK\n") + "00", isCut},
		"no answer":        {pkt("hello\n"), isProtocol},
		"flush for answer": {pkt(""), isProtocol},
		"endless acks":     {strings.Repeat(pkt("ACK "+oid("1").String()+" common\n"), 1000), isProtocol},
		"unknown band":     {pkt("NAK\n", "\x07PACK"), isProtocol},
	} {
		if err := fetch(c.server); !c.typed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := gitwire.Fetch(context.Background(), &script{says: strings.NewReader("")}, &gitwire.Advert{}, gitwire.FetchRequest{})
	if !isProtocol(err) {
		t.Errorf("nothing wanted: %v", err)
	}
}

var pushAdvert = &gitwire.Advert{Caps: gitwire.PushCaps}

// push plays a server's words to a client that pushes one commit.
func push(server string, o gitwire.PushOptions) (*script, gitwire.PushResult, error) {
	rw := says(server)
	if o.WritePack == nil {
		o.WritePack = func(w io.Writer) error { _, err := io.WriteString(w, "PACK"); return err }
	}
	cmd := gitwire.Command{Old: oid("1"), New: oid("2"), Ref: "refs/for/main"}
	result, err := gitwire.Push(context.Background(), rw, pushAdvert, cmd, o)
	return rw, result, err
}

func TestAPushSaysWhereItLanded(t *testing.T) {
	var said []string
	report := pkt("unpack ok\n", "ok refs/for/main\n", "option refname refs/heads/main\n", "option old-oid "+oid("3").String()+"\n",
		"option new-oid "+oid("2").String()+"\n", "option forced-update\n", "")
	rw, result, err := push(pkt("\x01", "\x02checking\n", "\x01"+report[:20], "\x01"+report[20:], "\x02bye\n", ""),
		gitwire.PushOptions{Options: []string{"a=1", "b"}, Messages: func(line string) { said = append(said, line) }})
	want := gitwire.Command{Old: oid("3"), New: oid("2"), Ref: "refs/heads/main"}
	if err != nil || result.Landed != want {
		t.Errorf("%+v, %v", result, err)
	}
	if !reflect.DeepEqual(said, []string{"checking", "bye"}) {
		t.Errorf("messages %q", said)
	}
	sent := pkt(command("1", "2", "refs/for/main")+"\x00report-status-v2 side-band-64k ofs-delta push-options agent=cairn/1", "", "a=1", "b", "") + "PACK"
	if rw.heard.String() != sent {
		t.Errorf("sent %q", rw.heard.String())
	}
}

func TestAPlainOkLandsAsCommanded(t *testing.T) {
	_, result, err := push(pkt("\x01"+pkt("unpack ok\n", "ok refs/for/main\n", ""), ""), gitwire.PushOptions{})
	if want := (gitwire.Command{Old: oid("1"), New: oid("2"), Ref: "refs/for/main"}); err != nil || result.Landed != want {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestARefusedPushSaysWhy(t *testing.T) {
	for reason, report := range map[string]string{
		"see above":                       pkt("unpack ok\n", "ng refs/for/main see above\n", ""),
		"no reason given":                 pkt("unpack ok\n", "ng refs/for/main\n", ""),
		"its pack could not be used: bad": pkt("unpack bad\n", "ng refs/for/main unpacker error\n", ""),
	} {
		_, _, err := push(pkt("\x02line one\nline", "\x02 two\n", "\x01"+report, "\x02after\n", ""), gitwire.PushOptions{})
		want := &gitwire.RejectedError{Ref: "refs/for/main", Reason: reason, Messages: []string{"line one", "line two", "after"}}
		if got, ok := errors.AsType[*gitwire.RejectedError](err); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%v", err)
		}
	}
}

func TestAPushThatFailsSaysHow(t *testing.T) {
	isCut := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
	isRemote := func(err error) bool { _, ok := errors.AsType[*gitwire.RemoteError](err); return ok }
	band := func(lines ...string) string { return pkt("\x01"+pkt(lines...), "") }
	for name, c := range map[string]struct {
		server string
		typed  func(error) bool
	}{
		"error line":         {pkt("ERR go away\n"), isRemote},
		"error in band":      {pkt("\x03go away\n"), isRemote},
		"vanishes":           {"", isCut},
		"report is cut":      {band("unpack ok\n"), isCut},
		"no unpack line":     {band("ok refs/for/main\n", ""), isProtocol},
		"two unpack lines":   {band("unpack ok\n", "unpack ok\n", ""), isProtocol},
		"another ref":        {band("unpack ok\n", "ok refs/heads/x\n", ""), isProtocol},
		"nothing said":       {band("unpack ok\n", ""), isProtocol},
		"malformed option":   {band("unpack ok\n", "ok refs/for/main\n", "option new-oid 12\n", ""), isProtocol},
		"malformed ref name": {band("unpack ok\n", "ok refs/for/main\n", "option refname a b\n", ""), isProtocol},
		"endless report":     {pkt("\x01" + pkt("unpack ok\n") + strings.Repeat(pkt("ok x\n"), 2000)), isProtocol},
	} {
		if _, _, err := push(c.server, gitwire.PushOptions{}); !c.typed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatCannotBePushedIsNotSent(t *testing.T) {
	cmd := gitwire.Command{New: oid("2"), Ref: "refs/heads/main"}
	for name, c := range map[string]struct {
		caps    string
		options []string
		typed   func(error) bool
	}{
		"no report":       {"ofs-delta", nil, isUnsupported},
		"no options":      {"report-status", []string{"a"}, isUnsupported},
		"empty option":    {"report-status push-options", []string{"a", ""}, isProtocol},
		"two-line option": {"report-status push-options", []string{"a\nb"}, isProtocol},
	} {
		rw := says("")
		_, err := gitwire.Push(context.Background(), rw, &gitwire.Advert{Caps: gitwire.ParseCapabilities(c.caps)}, cmd, gitwire.PushOptions{Options: c.options})
		if !c.typed(err) || rw.heard.Len() > 0 {
			t.Errorf("%s: %v, sent %q", name, err, rw.heard.String())
		}
	}
}

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
		return reply.Report("", []gitwire.Result{{Ref: req.Commands[0].Ref, Reason: "revoked"}})
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
