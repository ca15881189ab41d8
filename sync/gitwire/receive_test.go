package gitwire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/sync/gitwire"
)

func command(old, new, ref string) string {
	return oid(old).String() + " " + oid(new).String() + " " + ref
}

func readPush(text string) (*gitwire.PushRequest, string, error) {
	r := strings.NewReader(text)
	req, err := gitwire.ReadPush(context.Background(), r, gitwire.PushCaps)
	rest, _ := io.ReadAll(r) // a strings.Reader does not fail
	return req, string(rest), err
}

func TestAPushIsReadUpToItsPack(t *testing.T) {
	req, rest, err := readPush(pkt(command("1", "2", "refs/for/main")+"\x00 report-status side-band-64k push-options agent=git/2 unheard-of\n",
		command("0", "3", "refs/heads/x"), "", "topic=a b\n", "second", "") + "PACK...")
	if err != nil || rest != "PACK..." || !req.HasPack() {
		t.Fatalf("%+v, %q, %v", req, rest, err)
	}
	want := []gitwire.Command{{Old: oid("1"), New: oid("2"), Ref: "refs/for/main"}, {New: oid("3"), Ref: "refs/heads/x"}}
	if !reflect.DeepEqual(req.Commands, want) || !reflect.DeepEqual(req.Options, []string{"topic=a b", "second"}) {
		t.Errorf("%+v", req)
	}
	if !req.Caps.Has("side-band-64k") || req.Caps.Value("agent") != "git/2" || req.Caps.Has("unheard-of") {
		t.Errorf("capabilities %v", req.Caps)
	}
}

func TestAPushOfNothingIsNoError(t *testing.T) {
	req, _, err := readPush(pkt(""))
	if err != nil || len(req.Commands) != 0 || req.HasPack() {
		t.Errorf("%+v, %v", req, err)
	}
}

func TestADeletionHasNoPack(t *testing.T) {
	req, _, err := readPush(pkt(command("1", "0", "refs/heads/main")+"\x00", ""))
	if err != nil || len(req.Commands) != 1 || req.HasPack() {
		t.Errorf("%+v, %v", req, err)
	}
}

func TestMalformedPushesAreRefused(t *testing.T) {
	var many, options []string
	for i := range gitwire.MaxCommands + 1 {
		many = append(many, command("0", "1", fmt.Sprint("refs/heads/", i)))
		options = append(options, "option")
	}
	first := command("0", "1", "refs/heads/main")
	for name, c := range map[string]struct {
		text        string
		unsupported bool
	}{
		"too many":         {pkt(append(many, "")...), false},
		"no command":       {pkt("hello", ""), false},
		"from 0 to 0":      {pkt(command("0", "0", "refs/heads/main"), ""), false},
		"short id":         {pkt(first[1:], ""), false},
		"no ref":           {pkt(command("0", "1", ""), ""), false},
		"ref with a space": {pkt(command("0", "1", "refs/heads/a b"), ""), false},
		"ref with a line":  {pkt(command("0", "1", "refs/heads/a\nb"), ""), false},
		"ref with ESC":     {pkt(command("0", "1", "refs/heads/\x1b"), ""), false},
		"ref too long":     {pkt(command("0", "1", "refs/"+strings.Repeat("x", 2000)), ""), false},
		"twice":            {pkt(first, first, ""), false},
		"shallow":          {pkt("shallow "+oid("1").String(), first, ""), true},
		"signed":           {pkt("push-cert\x00x", ""), true},
		"other hash":       {pkt(first+"\x00object-format=sha256", ""), true},
		"many options":     {pkt(append([]string{first + "\x00push-options", ""}, options...)...), false},
		"long option":      {pkt(first+"\x00push-options", "", strings.Repeat("x", 2000), ""), false},
	} {
		req, _, err := readPush(c.text)
		if isUnsupported(err) != c.unsupported || isProtocol(err) == c.unsupported || req == nil {
			t.Errorf("%s: %+v, %v", name, req, err)
		}
	}
}

func TestOptionsThatWereNotOfferedAreRefused(t *testing.T) {
	r := strings.NewReader(pkt(command("0", "1", "refs/heads/main")+"\x00push-options", "", "x", ""))
	if _, err := gitwire.ReadPush(context.Background(), r, gitwire.Capabilities{"report-status"}); !isProtocol(err) {
		t.Errorf("%v", err)
	}
}

func TestAPusherThatVanishesIsAnError(t *testing.T) {
	for _, text := range []string{"", "00", pkt(command("0", "1", "refs/a")), pkt(command("0", "1", "refs/a")+"\x00push-options", "")} {
		if _, _, err := readPush(text); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %q: %v", text, err)
		}
	}
}

// answer replies to a client with these capabilities.
func answer(caps string, reply func(*gitwire.PushReply) error) (string, error) {
	var b bytes.Buffer
	err := reply(gitwire.NewPushReply(&b, &gitwire.PushRequest{Caps: gitwire.ParseCapabilities(caps)}))
	return b.String(), err
}

func TestEachKindOfClientGetsItsReport(t *testing.T) {
	landed := &gitwire.Command{Old: oid("1"), New: oid("2"), Ref: "refs/heads/main"}
	report := func(p *gitwire.PushReply) error {
		p.Message("looking\nagain\x1b[2J\r\n\n")
		return p.Report("", []gitwire.Result{
			{Ref: "refs/for/main", Landed: landed},
			{Ref: "refs/heads/x", Reason: "not\nhere"},
		})
	}
	v1 := pkt("unpack ok\n", "ok refs/for/main\n", "ng refs/heads/x not here\n", "")
	v2 := pkt("unpack ok\n", "ok refs/for/main\n", "option refname refs/heads/main\n", "option old-oid "+oid("1").String()+"\n",
		"option new-oid "+oid("2").String()+"\n", "ng refs/heads/x not here\n", "")
	said := pkt("\x02looking\n", "\x02again [2J\n")
	for caps, want := range map[string]string{
		"":                               "",
		"report-status":                  v1,
		"report-status-v2":               v2,
		"side-band-64k":                  said + "0000",
		"report-status side-band-64k":    said + pkt("\x01"+v1, ""),
		"report-status-v2 side-band-64k": said + pkt("\x01"+v2, ""),
	} {
		if got, err := answer(caps, report); err != nil || got != want {
			t.Errorf("%q: %v\n got %q\nwant %q", caps, err, got, want)
		}
	}
}

func TestAPackThatWasNotTakenIsReported(t *testing.T) {
	got, err := answer("report-status", func(p *gitwire.PushReply) error {
		return p.Report("too\nbig", []gitwire.Result{{Ref: "refs/a", Reason: "unpacker error"}})
	})
	if want := pkt("unpack too big\n", "ng refs/a unpacker error\n", ""); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFatalErrorEndsTheReply(t *testing.T) {
	fatal := func(p *gitwire.PushReply) error {
		err := p.Fatal("no\nmore")
		p.Message("dropped")
		return errors.Join(err, p.Close())
	}
	for caps, want := range map[string]string{"": pkt("ERR no more\n"), "side-band-64k": pkt("\x03no more\n", "")} {
		if got, err := answer(caps, fatal); err != nil || got != want {
			t.Errorf("%q: %q, %v", caps, got, err)
		}
	}
}

func TestALostConnectionComesUpInTheReport(t *testing.T) {
	client, server := net.Pipe()
	client.Close()
	for _, caps := range []string{"report-status", "report-status side-band-64k"} {
		p := gitwire.NewPushReply(server, &gitwire.PushRequest{Caps: gitwire.ParseCapabilities(caps)})
		p.Message("nobody hears this")
		if err := p.Report("", nil); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", caps, err)
		}
	}
}

func TestLongDataIsSplitIntoPackets(t *testing.T) {
	var results []gitwire.Result
	for i := range 2000 {
		results = append(results, gitwire.Result{Ref: fmt.Sprint("refs/heads/", i), Reason: strings.Repeat("x", 60)})
	}
	got, err := answer("report-status side-band-64k", func(p *gitwire.PushReply) error { return p.Report("", results) })
	if err != nil {
		t.Fatal(err)
	}
	var data strings.Builder
	for _, packet := range unpkt(t, got) {
		if len(packet) > 65516 {
			t.Errorf("a packet has %d bytes", len(packet))
		}
		data.WriteString(strings.TrimPrefix(packet, "\x01"))
	}
	if n := len(unpkt(t, data.String())); n != 2002 {
		t.Errorf("the report has %d lines", n)
	}
}

func TestASilentServerKeepsTheConnectionAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := gitwire.NewPushReply(&b, &gitwire.PushRequest{Caps: gitwire.Capabilities{"side-band-64k"}})
		time.Sleep(12 * time.Second) // in the bubble's time
		p.Message("still here")
		time.Sleep(4 * time.Second) // one tick, and it was not silent
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // and then nothing more
		if want := pkt("\x01", "\x01", "\x02still here\n", ""); b.String() != want {
			t.Errorf("sent %q", b.String())
		}
	})
}
