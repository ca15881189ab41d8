package gitwire_test

import (
	"context"
	"errors"
	"io"
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
