package history_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

var (
	idA = strings.Repeat("a1", 20)
	idB = strings.Repeat("b2", 20)
)

func TestACommitOfAnyToolIsRead(t *testing.T) {
	one, two := "tree "+idA+"\n", "parent "+idB+"\n"
	person := "A U Thor <a@b.invalid> "
	for name, c := range map[string]struct {
		raw     string
		parents int
		seconds int64
	}{
		"plain":             {one + "author " + person + "1 +0000\ncommitter " + person + "1700000000 +0100\n\ntext\n", 0, 1700000000},
		"merge":             {one + two + two + two + "committer " + person + "5 +0000\n\nx", 3, 5},
		"before 1970":       {one + "committer " + person + "-86400 +0000\n\n", 0, -86400},
		"signed":            {one + two + "committer " + person + "9 +0000\ngpgsig -----BEGIN\n committer x <y> 3 +0000\n -----END\n\n", 1, 9},
		"no address":        {one + "committer nobody\n\n", 0, 0},
		"no number":         {one + "committer a <b> soon\n\n", 0, 0},
		"number too big":    {one + "committer a <b> 99999999999999999999 +0000\n\n", 0, 0},
		"brackets in name":  {one + "committer a > <b> 7 +0000\n\n", 0, 7},
		"only in the text":  {one + "\ncommitter a <b> 7 +0000\n", 0, 0},
		"nothing else":      {one, 0, 0},
		"capitals in an id": {"tree " + strings.ToUpper(idA) + "\n\n", 0, 0},
	} {
		got, err := history.ParseCommit([]byte(c.raw))
		if err != nil || got.Tree.String() != idA || len(got.Parents) != c.parents || got.Seconds != c.seconds || string(got.Raw) != c.raw {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWhatIsNoCommitIsRefused(t *testing.T) {
	for name, raw := range map[string]string{
		"empty":          "",
		"no tree":        "parent " + idA + "\n",
		"short tree":     "tree " + idA[:39] + "\n",
		"long tree":      "tree " + idA + "0\n",
		"no end":         "tree " + idA,
		"tree in words":  "tree " + strings.Repeat("z", 40) + "\n",
		"zero tree":      "tree " + strings.Repeat("0", 40) + "\n",
		"short parent":   "tree " + idA + "\nparent " + idB[:10] + "\n",
		"zero parent":    "tree " + idA + "\nparent " + strings.Repeat("0", 40) + "\n",
		"unended parent": "tree " + idA + "\nparent " + idB,
	} {
		_, err := history.ParseCommit([]byte(raw))
		if _, ok := errors.AsType[*history.MalformedError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadCommitSaysWhatTheObjectIs(t *testing.T) {
	s := gittreetest.New()
	_, err := history.ReadCommit(s, s.Blob("text"))
	if _, ok := errors.AsType[*history.MalformedError](err); !ok || !strings.Contains(err.Error(), "blob") {
		t.Errorf("a blob: %v", err)
	}
	if _, err := history.ReadCommit(s, plumbing.NewHash(idA)); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree " + idA + "\nparent " + idB + "\nauthor a <b> 1 +0000\ncommitter a <b> 2 +0000\n\ntext"))
	f.Add([]byte("tree " + idA + "\n"))
	f.Add([]byte("tree " + idA + "\nparent " + idB))
	f.Add([]byte("committer >"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := history.ParseCommit(raw)
		if err != nil {
			return
		}
		var head bytes.Buffer
		head.WriteString("tree " + c.Tree.String() + "\n")
		for _, p := range c.Parents {
			head.WriteString("parent " + p.String() + "\n")
		}
		if n := head.Len(); n > len(raw) || !bytes.EqualFold(raw[:n], head.Bytes()) {
			t.Fatalf("the head %q is not in %q", head.Bytes(), raw)
		}
	})
}
