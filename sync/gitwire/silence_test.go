package gitwire_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

// still is an empty packet on the data channel, which is what stock git sends.
const still = "0005\x01"

// While a hub looks at a push, for however long, it says something at least
// every few seconds, from the commands on; what comes at last is a whole report.
func TestAPushIsKeptAliveUntilItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		req := &gitwire.PushRequest{
			Commands: []gitwire.Command{{New: plumbing.NewHash(strings.Repeat("ab", 20)), Ref: "refs/heads/main"}},
			Caps:     gitwire.Capabilities{"side-band-64k", "report-status"},
		}
		reply := gitwire.NewPushReply(&out, req)
		time.Sleep(time.Minute)
		if n := strings.Count(out.String(), still); n < 10 || len(out.String()) != n*len(still) {
			t.Errorf("in a minute the client heard %q", out.String())
		}
		reply.Message("still looking")
		before := strings.Count(out.String(), still)
		time.Sleep(time.Second)
		if strings.Count(out.String(), still) != before {
			t.Error("an empty packet came right after a message")
		}
		if err := reply.Report("", []gitwire.Result{{Ref: "refs/heads/main"}}); err != nil {
			t.Fatal(err)
		}
		ended := out.String()
		time.Sleep(time.Minute)
		if out.String() != ended || !strings.HasSuffix(ended, "0000") || !strings.Contains(ended, "ok refs/heads/main") {
			t.Errorf("the report was %q, and later %q", ended, strings.TrimPrefix(out.String(), ended))
		}
	})
}

// A fetch is kept alive while the pack is made.
func TestAFetchIsKeptAliveWhileThePackIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		tip := plumbing.NewHash(strings.Repeat("cd", 20))
		ended := make(chan error, 1)
		go func() { ended <- gitwire.ServeUpload(context.Background(), server, slowBackend{tip}) }()
		ad, err := gitwire.ReadAdvert(client)
		if err != nil {
			t.Fatal(err)
		}
		wire := &heard{ReadWriteCloser: client}
		pack, err := gitwire.Fetch(context.Background(), wire, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{tip}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(pack)
		if err != nil || string(got) != "the pack" {
			t.Errorf("the client got %q, %v", got, err)
		}
		if n := bytes.Count(wire.b.Bytes(), []byte(still)); n < 10 {
			t.Errorf("%d signs of life in a minute", n)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// lockedBuffer is a bytes.Buffer for a writer and a reader at once.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type slowBackend struct{ tip plumbing.Hash }

func (b slowBackend) Refs() (map[string]plumbing.Hash, error) {
	return map[string]plumbing.Hash{"refs/heads/main": b.tip}, nil
}

func (slowBackend) Head() (string, error)                      { return "refs/heads/main", nil }
func (slowBackend) Has(plumbing.Hash) bool                     { return false }
func (slowBackend) ReadyFor(wants, haves []plumbing.Hash) bool { return false }

func (slowBackend) WritePack(_ context.Context, w io.Writer, _, _ []plumbing.Hash) error {
	time.Sleep(time.Minute)
	_, err := io.WriteString(w, "the pack")
	return err
}

// heard keeps what was read.
type heard struct {
	io.ReadWriteCloser
	b bytes.Buffer
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadWriteCloser.Read(p)
	h.b.Write(p[:n])
	return n, err
}

// An answered push is a server that answers when everything has been sent.
type answered struct {
	answer bytes.Buffer
	closed bool
}

func (a *answered) Write(p []byte) (int, error) { return len(p), nil }

func (a *answered) Read(p []byte) (int, error) {
	synctest.Wait() // until whoever sends has nothing more to do
	return a.answer.Read(p)
}

func (a *answered) CloseWrite() error { return nil }

func (a *answered) Close() error {
	a.closed = true
	return nil
}

// A push that was sent whole and answered ends without a blow to the stream, on
// which the server may still say more.
func TestAnAnsweredPushLeavesTheStreamOpen(t *testing.T) {
	for range 50 { // either may happen by chance
		synctest.Test(t, func(t *testing.T) {
			cmd := gitwire.Command{New: plumbing.NewHash(strings.Repeat("ab", 20)), Ref: "refs/heads/main"}
			caps := gitwire.Capabilities{"report-status"}
			stream := &answered{}
			reply := gitwire.NewPushReply(&stream.answer, &gitwire.PushRequest{Commands: []gitwire.Command{cmd}, Caps: caps})
			if err := reply.Report("", []gitwire.Result{{Ref: cmd.Ref}}); err != nil {
				t.Fatal(err)
			}
			_, err := gitwire.Push(context.Background(), stream, &gitwire.Advert{Caps: caps}, cmd, gitwire.PushOptions{
				WritePack: func(io.Writer) error { return nil },
			})
			if err != nil || stream.closed {
				t.Fatalf("closed: %v, %v", stream.closed, err)
			}
		})
	}
}
