package policy_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"cairn/policy"
)

const ident = "Ana <ana@example.com> 1700000000 +0000"

func commitOf(author, message string) []byte {
	return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s", strings.Repeat("0a1b", 10), author, ident, message)
}

func TestEveryPartOfAnObjectIsRead(t *testing.T) {
	p := policy.Default()
	secret := token(1)
	entry := func(name string) []byte { return append([]byte("100644 "+name+"\x00"), make([]byte, 20)...) }
	for name, c := range map[string]struct {
		kind  string
		data  []byte
		field string
	}{
		"message":       {policy.Commit, commitOf(ident, "fix\n\nUse "+secret+"\n"), "message"},
		"trailer":       {policy.Commit, commitOf(ident, "fix\n\nToken: "+secret+"\n"), "message"},
		"author":        {policy.Commit, commitOf(secret+" <a@b.c> 1700000000 +0000", "fix\n"), "author"},
		"mailbox":       {policy.Commit, commitOf("Ana <"+secret+"@b.c> 1700000000 +0000", "fix\n"), "author"},
		"own header":    {policy.Commit, []byte("tree x\n" + secret + " y\n\nfix\n"), "commit"},
		"header value":  {policy.Commit, []byte("tree x\nnote " + secret + "\n\nfix\n"), "header"},
		"no message":    {policy.Commit, []byte("tree " + secret), "tree"},
		"tag message":   {policy.Tag, []byte("object x\ntype commit\ntag v1\ntagger " + ident + "\n\n" + secret), "message"},
		"tag name":      {policy.Tag, []byte("object x\ntype commit\ntag " + secret + "\ntagger " + ident + "\n\nx"), "tag"},
		"file name":     {policy.Tree, append(entry("a"), entry(secret+".md")...), "name"},
		"broken tree":   {policy.Tree, []byte(secret), "name"},
		"blob":          {policy.Blob, []byte("line\n" + secret + "\n"), "content"},
		"JSON name":     {policy.Blob, []byte(`{"` + secret + `": 1}`), "content"},
		"binary":        {policy.Blob, []byte("\x00\x01\xff" + secret + "\x00"), "content"},
		"ref":           {policy.Ref, []byte("refs/heads/" + secret), "ref"},
		"unknown thing": {"note", []byte(secret), "note"},
	} {
		found := p.DecideRaw(c.kind, c.data)
		if len(found) == 0 {
			t.Errorf("%s: nothing found", name)
			continue
		}
		at := bytes.Index(c.data, []byte(secret))
		if f := found[0]; f.Field != c.field || f.Start > at || f.End < at+len(secret) {
			t.Errorf("%s: found in %s at %d to %d, want %s at %d", name, f.Field, f.Start, f.End, c.field, at)
		}
	}
}

func TestOrdinaryObjectsPass(t *testing.T) {
	p := policy.Default()
	hash := make([]byte, 20)
	for i := range hash {
		hash[i] = byte(41 * i)
	}
	for kind, data := range map[string][]byte{
		policy.Commit: commitOf(ident, "sync: keep the token of a session\n\nSigned-off-by: Ana <ana@example.com>\n"),
		policy.Tag:    []byte("object x\ntype commit\ntag v1.2.3\ntagger " + ident + "\n\nrelease\n"),
		policy.Tree:   append([]byte("40000 secrets\x00"), hash...),
		policy.Blob:   []byte("password: ${DB_PASSWORD}\n"),
		policy.Ref:    []byte("refs/heads/task-while-waiting"),
	} {
		if found := p.DecideRaw(kind, data); len(found) > 0 {
			t.Errorf("%s: %+v", kind, found)
		}
	}
}

func FuzzDecideRaw(f *testing.F) {
	for _, kind := range []string{policy.Commit, policy.Tree, policy.Blob, policy.Tag, policy.Ref} {
		f.Add(kind, commitOf(ident, "x"))
		f.Add(kind, append([]byte("100644 a\x00"), make([]byte, 20)...))
	}
	p := policy.Default()
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		for _, found := range p.DecideRaw(kind, data) {
			if found.Start < 0 || found.End > len(data) || found.Field == "" {
				t.Fatalf("%+v in %d bytes", found, len(data))
			}
		}
	})
}
