package gitwire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

// shelf is a repository made of nothing but answers.
type shelf struct {
	refs  map[string]plumbing.Hash
	has   []plumbing.Hash
	ready bool
	err   error // of WritePack

	wants, haves []plumbing.Hash // of the last WritePack
}

func (s *shelf) Refs() (map[string]plumbing.Hash, error)    { return s.refs, nil }
func (s *shelf) Head() (string, error)                      { return "refs/heads/main", nil }
func (s *shelf) Has(h plumbing.Hash) bool                   { return slices.Contains(s.has, h) }
func (s *shelf) ReadyFor(wants, haves []plumbing.Hash) bool { return s.ready }

func (s *shelf) WritePack(_ context.Context, w io.Writer, wants, haves []plumbing.Hash) error {
	s.wants, s.haves = wants, haves
	if s.err != nil {
		return s.err
	}
	_, err := io.WriteString(w, "PACK")
	return err
}

// newShelf has main at 1 and knows the commits 1 and 2.
func newShelf() *shelf {
	return &shelf{refs: map[string]plumbing.Hash{"refs/heads/main": oid("1")}, has: []plumbing.Hash{oid("1"), oid("2")}}
}

// serve plays a client's words to a server and returns what came after the advert.
func serve(t *testing.T, b gitwire.UploadBackend, client string) (string, error) {
	t.Helper()
	rw := says(client)
	err := gitwire.ServeUpload(context.Background(), rw, b)
	_, answer, ok := strings.Cut(rw.heard.String(), "\n"+pkt(""))
	if !ok {
		t.Fatalf("no advert in %q", rw.heard.String())
	}
	return answer, err
}

func TestEachWayToNegotiate(t *testing.T) {
	one, two, nine := oid("1").String(), oid("2").String(), oid("9").String()
	for name, c := range map[string]struct {
		ready  bool
		client []string
		want   string
	}{
		"clone": {
			client: []string{"want " + one + "\n", "", "done\n"},
			want:   pkt("NAK\n") + "PACK",
		},
		"clone with side-band": {
			client: []string{"want " + one + " side-band-64k\n", "", "done\n"},
			want:   pkt("NAK\n", "\x01PACK", ""),
		},
		"plain, nothing in common": {
			client: []string{"want " + one + "\n", "", "have " + nine + "\n", "", "done\n"},
			want:   pkt("NAK\n", "NAK\n") + "PACK",
		},
		"plain, something in common": {
			ready:  true,
			client: []string{"want " + one + "\n", "", "have " + nine + "\n", "have " + two + "\n", "", "have " + one + "\n", "done\n"},
			want:   pkt("ACK "+two+"\n") + "PACK",
		},
		"multi_ack": {
			client: []string{"want " + one + " multi_ack\n", "", "have " + two + "\n", "have " + nine + "\n", "", "have " + one + "\n", "done\n"},
			want:   pkt("ACK "+two+" continue\n", "NAK\n", "ACK "+one+" continue\n", "ACK "+one+"\n") + "PACK",
		},
		"detailed, not ready": {
			client: []string{"want " + one + " multi_ack_detailed\n", "", "have " + two + "\n", "", "have " + nine + "\n", "", "done\n"},
			want:   pkt("ACK "+two+" common\n", "NAK\n", "NAK\n", "ACK "+two+"\n") + "PACK",
		},
		"detailed, ready": {
			ready:  true,
			client: []string{"want " + one + " multi_ack_detailed\n", "", "have " + nine + "\n", "have " + two + "\n", "", "done\n"},
			want:   pkt("ACK "+two+" common\n", "ACK "+two+" ready\n", "NAK\n", "ACK "+two+"\n") + "PACK",
		},
		"detailed, nothing in common": {
			ready:  true,
			client: []string{"want " + one + " multi_ack_detailed\n", "", "have " + nine + "\n", "", "done\n"},
			want:   pkt("NAK\n", "NAK\n") + "PACK",
		},
	} {
		b := newShelf()
		b.ready = c.ready
		if got, err := serve(t, b, pkt(c.client...)); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, c.want)
		}
	}
}

func TestTheBackendLearnsEachWantAndHaveOnce(t *testing.T) {
	b := newShelf()
	one, two := oid("1").String(), oid("2").String()
	_, err := serve(t, b, pkt("want "+one+"\n", "want "+one+"\n", "", "have "+two+"\n", "have "+oid("9").String()+"\n", "have "+two+"\n", "done\n"))
	if err != nil || !slices.Equal(b.wants, []plumbing.Hash{oid("1")}) || !slices.Equal(b.haves, []plumbing.Hash{oid("2")}) {
		t.Errorf("wants %v, haves %v, %v", b.wants, b.haves, err)
	}
}

func TestAClientThatOnlyListsIsServed(t *testing.T) {
	for _, heard := range []string{pkt(""), ""} {
		if answer, err := serve(t, newShelf(), heard); err != nil || answer != "" {
			t.Errorf("after %q: %q, %v", heard, answer, err)
		}
	}
}

func TestAClientThatVanishesIsAnError(t *testing.T) {
	one := oid("1").String()
	for _, heard := range []string{"00", "0032want", pkt("want " + one + "\n"), pkt("want "+one+"\n", "", "have "+one+"\n", "")} {
		if _, err := serve(t, newShelf(), heard); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %q: %v", heard, err)
		}
	}
}

func TestWhatCannotBeServedIsRefusedWithItsReason(t *testing.T) {
	one := oid("1").String()
	for name, c := range map[string]struct {
		client      string
		unsupported bool
		words       string
	}{
		"not shown":        {pkt("want "+oid("2").String()+"\n", "", "done\n"), false, "not one of the refs shown"},
		"shallow client":   {pkt("want "+one+"\n", "shallow "+one+"\n", ""), true, "shallow"},
		"depth":            {pkt("want "+one+"\n", "deepen 1\n", ""), true, "whole history"},
		"since":            {pkt("want "+one+"\n", "deepen-since 1\n", ""), true, "whole history"},
		"partial":          {pkt("want "+one+"\n", "filter blob:none\n", ""), true, "--filter"},
		"other hash":       {pkt("want " + one + " object-format=sha256\n"), true, "sha256"},
		"no want":          {pkt("have "+one+"\n", ""), false, "want was expected"},
		"want of nothing":  {pkt("want x\n", ""), false, "want was expected"},
		"no have":          {pkt("want "+one+"\n", "", "want "+one+"\n"), false, "have was expected"},
		"have of nothing":  {pkt("want "+one+"\n", "", "have x\n"), false, "have was expected"},
		"no length":        {"zzzz", false, "length"},
		"length too small": {"0003", false, "length"},
		"length too big":   {"ffff", false, "length"},
	} {
		answer, err := serve(t, newShelf(), c.client)
		if isUnsupported(err) != c.unsupported || isProtocol(err) == c.unsupported {
			t.Errorf("%s: %v", name, err)
		}
		lines := unpkt(t, answer)
		if len(lines) != 1 || !strings.HasPrefix(lines[0], "ERR ") || !strings.Contains(lines[0], c.words) {
			t.Errorf("%s: the client is told %q", name, lines)
		}
	}
}

func TestAPackThatCannotBeMadeEndsInAMessage(t *testing.T) {
	b := newShelf()
	b.err = errors.New("disk on fire in /secret/place")
	answer, err := serve(t, b, pkt("want "+oid("1").String()+" side-band-64k\n", "", "done\n"))
	if !errors.Is(err, b.err) {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(answer, "\x03the pack could not be made") || strings.Contains(answer, "secret") {
		t.Errorf("the client is told %q", answer)
	}
}

func TestAWaitingServerEndsWithItsContext(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() { done <- gitwire.ServeUpload(ctx, server, newShelf()) }()
	if _, err := gitwire.ReadAdvert(client); err != nil {
		t.Fatal(err)
	}
	why := errors.New("the hub is going down")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("error: %v", err)
	}
}
