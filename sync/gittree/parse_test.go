package gittree_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// raw puts together the bytes of a tree from lines such as "100644 name".
func raw(lines ...string) []byte {
	var b []byte
	for _, l := range lines {
		b = append(b, l...)
		b = append(b, 0)
		b = append(b, bytes.Repeat([]byte{7}, 20)...)
	}
	return b
}

func TestMalformedTreesAreRefused(t *testing.T) {
	zeroID := append([]byte("100644 a\x00"), make([]byte, 20)...)
	for name, data := range map[string][]byte{
		"no NUL":             []byte("100644 a"),
		"short id":           raw("100644 a")[:27],
		"no space":           raw("100644"),
		"no name":            raw("100644 "),
		"no mode":            raw(" a"),
		"unknown mode":       raw("100600 a"),
		"mode in words":      raw("file a"),
		"slash in the name":  raw("100644 a/b"),
		"zero id":            zeroID,
		"unsorted":           raw("100644 b", "100644 a"),
		"file before dir":    raw("40000 a", "100644 a.b"),
		"twice":              raw("100644 a", "100644 a"),
		"twice, file and":    raw("100644 a", "40000 a"),
		"twice, far apart":   raw("100644 a", "100644 a-b", "100644 a.b", "40000 a"),
		"rest after the end": append(raw("100644 a"), 'x'),
	} {
		for mode, parse := range map[string]func([]byte) ([]gittree.Entry, error){"strict": gittree.Parse, "lenient": gittree.ParseLenient} {
			if _, err := parse(data); !isMalformed(err) {
				t.Errorf("%s, %s: %v", name, mode, err)
			}
		}
	}
}

// A tree is looked into before it is checked, since it says which space it is of: whatever stands in it, that ends well.
func TestLookingIntoAMalformedTree(t *testing.T) {
	for name, data := range map[string][]byte{
		"an entry of nothing": raw(""),
		"only a mode":         raw("40000"),
		"cut off":             raw("100644 a")[:27],
		"no end":              []byte("100644 a"),
	} {
		s := gittreetest.New()
		o := gitstore.NewObject(plumbing.TreeObject, data)
		s.Put(o)
		if _, err := gittree.Lookup(s, o.Hash, "a"); !isMalformed(err) && !errors.Is(err, gittree.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isMalformed(err error) bool {
	_, ok := errors.AsType[*gittree.MalformedError](err)
	return ok
}

func TestForeignTreesAreReadOnlyLeniently(t *testing.T) {
	for name, line := range map[string]string{
		"executable":      "100755 a",
		"group writable":  "100664 a",
		"link":            "120000 a",
		"submodule":       "160000 a",
		"zero-padded":     "040000 a",
		"git's folder":    "40000 .git",
		"in capitals":     "40000 .GIT",
		"as NTFS has it":  "40000 GIT~1",
		"with a stream":   "40000 .git::$INDEX_ALLOCATION",
		"trailing dot":    "40000 .git.",
		"trailing space":  "100644 a ",
		"here":            "40000 .",
		"up":              "40000 ..",
		"backslash":       "100644 a\\b",
		"control byte":    "100644 a\x1b[2J",
		"invisible":       "40000 .g\u200cit",
		"beyond ASCII":    "100644 caf\u00e9",
		"not even UTF-8":  "100644 \xff",
		"delete":          "100644 a\x7f",
		"a colon, a disk": "100644 c:x",
	} {
		if _, err := gittree.Parse(raw(line)); !isMalformed(err) {
			t.Errorf("%s: strict parse says %v", name, err)
		}
		if e, err := gittree.ParseLenient(raw(line)); err != nil || len(e) != 1 {
			t.Errorf("%s: lenient parse says %v, %v", name, e, err)
		}
	}
}

func TestTreeReasonsHoldNoName(t *testing.T) {
	const name = "very-private-name"
	_, err := gittree.Parse(raw("100755 " + name))
	if err == nil || strings.Contains(err.Error(), name) {
		t.Errorf("error: %v", err)
	}
}

func TestEncodeSortsAsGitDoes(t *testing.T) {
	id := plumbing.NewHash("0101")
	entries := []gittree.Entry{
		{Name: "a0", Hash: id, Mode: filemode.Regular},
		{Name: "a", Hash: id, Mode: filemode.Dir},
		{Name: "a.json", Hash: id, Mode: filemode.Regular},
		{Name: "a-b", Hash: id, Mode: filemode.Dir},
		{Name: "B", Hash: id, Mode: filemode.Regular},
	}
	data, err := gittree.Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gittree.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range got {
		names = append(names, e.Name)
	}
	if want := []string{"B", "a-b", "a.json", "a", "a0"}; !slices.Equal(names, want) {
		t.Errorf("order %v, want %v", names, want)
	}
}

func TestEncodeRefusesWhatParseWould(t *testing.T) {
	id := plumbing.NewHash("0101")
	for name, entries := range map[string][]gittree.Entry{
		"link":          {{Name: "a", Hash: id, Mode: filemode.Symlink}},
		"no mode":       {{Name: "a", Hash: id}},
		"no id":         {{Name: "a", Mode: filemode.Regular}},
		"no name":       {{Hash: id, Mode: filemode.Regular}},
		"twice":         {{Name: "a", Hash: id, Mode: filemode.Regular}, {Name: "a", Hash: id, Mode: filemode.Dir}},
		"smuggled line": {{Name: "a\x00" + strings.Repeat("x", 20) + "100644 b", Hash: id, Mode: filemode.Regular}},
	} {
		if _, err := gittree.Encode(entries); !isMalformed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(raw("100644 a", "40000 b"))
	f.Add(raw("100644 a", "100644 a-b", "40000 a"))
	f.Add(raw("120000 link", "160000 sub"))
	f.Add([]byte("40000 a\x00short"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lenient, lenientErr := gittree.ParseLenient(data)
		entries, err := gittree.Parse(data)
		if err != nil {
			return
		}
		if lenientErr != nil || !slices.Equal(entries, lenient) {
			t.Fatalf("the lenient parse differs: %v, %v", lenient, lenientErr)
		}
		back, err := gittree.Encode(entries)
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("encoded again: %q, %v", back, err)
		}
		sameAsGoGit(t, data, entries)
	})
}

// sameAsGoGit compares the entries with what go-git reads in the same bytes.
func sameAsGoGit(t *testing.T, data []byte, entries []gittree.Entry) {
	t.Helper()
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.TreeObject)
	if _, err := o.Write(data); err != nil {
		t.Fatal(err)
	}
	var tree object.Tree
	if err := tree.Decode(o); err != nil {
		t.Fatalf("go-git cannot read the tree: %v", err)
	}
	if len(tree.Entries) != len(entries) {
		t.Fatalf("go-git sees %d entries, we see %d", len(tree.Entries), len(entries))
	}
	for i, e := range tree.Entries {
		if e.Name != entries[i].Name || e.Hash != entries[i].Hash || e.Mode != entries[i].Mode {
			t.Fatalf("entry %d: go-git sees %v, we see %v", i, e, entries[i])
		}
	}
}
