package gitwire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"cairn/sync/gitwire"
)

func TestAnAdvertIsReadAsItWasMeant(t *testing.T) {
	for name, refs := range map[string]map[string]plumbing.Hash{
		"no refs":        {},
		"main":           {"refs/heads/main": oid("1")},
		"other branches": {"refs/heads/a": oid("2"), "refs/cairn/epoch": oid("3")},
	} {
		var b bytes.Buffer
		if err := gitwire.Advertise(&b, refs, "refs/heads/main", gitwire.Capabilities{"ofs-delta", gitwire.Agent}); err != nil {
			t.Fatal(err)
		}
		sameForGoGit(t, name, b.Bytes(), refs)
		b.WriteString("PACK")
		ad, err := gitwire.ReadAdvert(&b)
		if err != nil || !maps.Equal(ad.Refs, refs) || ad.Head != "refs/heads/main" || !ad.Caps.Has("ofs-delta") || !ad.Caps.Has("agent") {
			t.Errorf("%s: %+v, %v", name, ad, err)
		}
		if rest, err := io.ReadAll(&b); string(rest) != "PACK" || err != nil {
			t.Errorf("%s: %q is left behind the advert", name, rest)
		}
	}
}

// sameForGoGit has go-git read an advert.
func sameForGoGit(t *testing.T, name string, advert []byte, refs map[string]plumbing.Hash) {
	t.Helper()
	theirs := packp.NewAdvRefs()
	if err := theirs.Decode(bytes.NewReader(advert)); err != nil || !maps.Equal(theirs.References, refs) {
		t.Errorf("%s: go-git reads %v, %v", name, theirs.References, err)
	}
}

func TestAdvertsOfOtherServersAreRead(t *testing.T) {
	one, two := oid("1").String(), oid("2").String()
	refs := map[string]plumbing.Hash{"refs/heads/main": oid("1"), "refs/tags/v1": oid("2")}
	for name, text := range map[string]string{
		"stock":          pkt(one+" HEAD\x00multi_ack symref=HEAD:refs/heads/main\n", one+" refs/heads/main\n", two+" refs/tags/v1\n", one+" refs/tags/v1^{}\n", ""),
		"version 1":      pkt("version 1\n", one+" refs/heads/main\x00x\n", two+" refs/tags/v1\n", ""),
		"no newlines":    pkt(one+" refs/heads/main\x00x", two+" refs/tags/v1", ""),
		"server's hints": pkt(one+" refs/heads/main\x00x\n", oid("3").String()+" .have\n", oid("4").String()+" .have\n", two+" refs/tags/v1\n", ""),
	} {
		ad, err := gitwire.ReadAdvert(strings.NewReader(text))
		if err != nil || !maps.Equal(ad.Refs, refs) {
			t.Errorf("%s: %+v, %v", name, ad, err)
		}
	}
	if ad, err := gitwire.ReadAdvert(strings.NewReader("0000")); err != nil || len(ad.Refs) != 0 {
		t.Errorf("an old server's empty repository: %+v, %v", ad, err)
	}
}

func TestAdvertsThatCannotBeUsedAreRefused(t *testing.T) {
	one := oid("1").String()
	var many strings.Builder
	for i := range gitwire.MaxRefs + 1 {
		many.WriteString(pkt(fmt.Sprintf("%s refs/heads/%d\n", one, i)))
	}
	for name, c := range map[string]struct {
		text  string
		typed func(error) bool
	}{
		"version 2":      {pkt("version 2\n", "agent=x\n", ""), isUnsupported},
		"other hash":     {pkt(strings.Repeat("1", 64)+" refs/heads/main\x00object-format=sha256\n", ""), isUnsupported},
		"shallow":        {pkt(one+" refs/heads/main\x00x\n", "shallow "+one+"\n", ""), isUnsupported},
		"no ref":         {pkt("hello\n", ""), isProtocol},
		"a web page":     {"HTTP/1.1 400 Bad Request\r\n", isProtocol},
		"a shell prompt": {"Welcome to the machine!\n", isProtocol},
		"name with ESC":  {pkt(one+" refs/heads/\x1b[2J\x00x\n", ""), isProtocol},
		"twice":          {pkt(one+" refs/a\x00x\n", one+" refs/a\n", ""), isProtocol},
		"endless":        {many.String(), isProtocol},
		"just ends":      {"", func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		"ends within":    {pkt(one + " refs/a\x00x\n"), func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	} {
		if ad, err := gitwire.ReadAdvert(strings.NewReader(c.text)); !c.typed(err) {
			t.Errorf("%s: %v, %v", name, ad, err)
		}
	}
}

func TestARemoteErrorIsSafeToPrint(t *testing.T) {
	_, err := gitwire.ReadAdvert(strings.NewReader(pkt("ERR no\x1b[31m such\nspace\xff\u202e" + strings.Repeat("x", 5000))))
	e, ok := errors.AsType[*gitwire.RemoteError](err)
	if !ok || !strings.HasPrefix(e.Message, "no [31m such space? x") || len(e.Message) > 1024 {
		t.Errorf("%v", err)
	}
}
