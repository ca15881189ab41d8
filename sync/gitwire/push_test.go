package gitwire_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"cairn/sync/gitwire"
)

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
