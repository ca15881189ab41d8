package gitwire_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"cairn/sync/gitwire"
)

func FuzzReadAdvert(f *testing.F) {
	one := oid("1").String()
	f.Add(pkt(one+" HEAD\x00symref=HEAD:refs/heads/main ofs-delta\n", one+" refs/heads/main\n", one+" refs/tags/v^{}\n", ""))
	f.Add(pkt("version 1\n", strings.Repeat("0", 40)+" capabilities^{}\x00agent=x\n", ""))
	f.Add(pkt("ERR no\n"))
	f.Add("0001")
	f.Add("000500030004")
	f.Fuzz(func(t *testing.T, text string) {
		ad, err := gitwire.ReadAdvert(strings.NewReader(text))
		if err != nil {
			checkPrintable(t, err)
			return
		}
		var b bytes.Buffer
		if err := gitwire.Advertise(&b, ad.Refs, ad.Head, nil); err != nil {
			t.Fatal(err)
		}
		again, err := gitwire.ReadAdvert(&b)
		if err != nil || !maps.Equal(again.Refs, ad.Refs) || again.Head != ad.Head {
			t.Fatalf("%+v is read back as %+v, %v", ad, again, err)
		}
	})
}

// checkPrintable fails if an error can do more to a terminal than show text.
func checkPrintable(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsFunc(err.Error(), unicode.IsControl) {
		t.Fatalf("a message holds control characters: %q", err)
	}
}

func FuzzReadPush(f *testing.F) {
	f.Add(pkt(command("1", "2", "refs/for/main")+"\x00 report-status push-options\n", command("0", "3", "refs/heads/x"), "", "a=b", "") + "PACK")
	f.Add(pkt("shallow "+oid("1").String(), ""))
	f.Add(pkt(""))
	f.Fuzz(func(t *testing.T, text string) {
		r := strings.NewReader(text)
		req, err := gitwire.ReadPush(context.Background(), r, gitwire.PushCaps)
		if err != nil {
			checkPrintable(t, err)
		}
		if len(req.Commands) > gitwire.MaxCommands {
			t.Fatalf("%d commands", len(req.Commands))
		}
		for _, c := range req.Commands {
			if c.Ref == "" || strings.ContainsFunc(c.Ref, unicode.IsControl) || c.Old == c.New && c.Old.IsZero() {
				t.Fatalf("command %+v", c)
			}
		}
		if read := text[:len(text)-r.Len()]; err == nil && !strings.HasSuffix(read, "0000") {
			t.Fatalf("read up to %q", read)
		}
	})
}

func FuzzServeUpload(f *testing.F) {
	one, two := oid("1").String(), oid("2").String()
	f.Add(pkt("want "+one+" multi_ack_detailed side-band-64k ofs-delta\n", "", "have "+two+"\n", "", "have "+oid("9").String()+"\n", "done\n"))
	f.Add(pkt("want "+one+"\n", "", "done\n"))
	f.Add(pkt("want "+one+"\n", "deepen 1\n", "", "done\n"))
	f.Add(pkt(""))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		b := newShelf()
		err := gitwire.ServeUpload(context.Background(), says(text), b)
		if err != nil {
			checkPrintable(t, err)
		}
		if err == nil && b.wants == nil && text != "" && !strings.HasPrefix(text, "0000") {
			t.Fatal("nothing was served, and no error is returned")
		}
		if len(b.wants) > 1 || b.wants != nil && b.wants[0] != oid("1") || len(b.haves) > 2 || slices.Contains(b.haves, oid("9")) {
			t.Fatalf("wants %v, haves %v", b.wants, b.haves)
		}
	})
}

func FuzzFetch(f *testing.F) {
	one := oid("1").String()
	f.Add(pkt("ACK "+one+" common\n", "NAK\n", "\x02text\n", "\x01PACK", ""))
	f.Add(pkt("NAK\n", "\x03no\n"))
	f.Add(pkt("NAK\n", "\x01", ""))
	f.Fuzz(func(t *testing.T, server string) {
		if err := fetch(server); err != nil {
			checkPrintable(t, err)
		}
	})
}

func FuzzPush(f *testing.F) {
	f.Add(pkt("\x02text\n", "\x01"+pkt("unpack ok\n", "ok refs/for/main\n", "option refname refs/heads/main\n", ""), ""))
	f.Add(pkt("\x01"+pkt("unpack bad\n", "ng refs/for/main no\n", ""), ""))
	f.Add(pkt("\x01"+pkt("unpack ok\n")[:7], "\x01k\n", ""))
	f.Fuzz(func(t *testing.T, server string) {
		write := func(w io.Writer) error { _, err := io.WriteString(w, "PACK"); return err }
		_, result, err := push(server, gitwire.PushOptions{WritePack: write})
		if err != nil {
			checkPrintable(t, err)
		} else if result.Landed.Ref == "" || !strings.Contains(server, "ok") {
			t.Fatalf("landed %+v after %q", result.Landed, server)
		}
	})
}
