package commitform_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

func TestBytesOfTheFourForms(t *testing.T) {
	e := eventtest.Note("a secret plan")
	e.ID = "01jdyrnk3s8q4b7ymx2v5c6d9e"
	var tree, a, b commitform.Hash
	tree[0], a[0], b[0] = 1, 2, 3
	device := string(e.Actor.Device)
	zeros := strings.Repeat("0", 38)

	want := "tree 01" + zeros + "\nparent 02" + zeros + "\n" +
		"author " + device + " <" + device + "@cairn.invalid> 1732976463 +0000\n" +
		"committer " + device + " <" + device + "@cairn.invalid> 1732976463 +0000\n" +
		"\nobserve: 01jdyrnk3s8q4b7ymx2v5c6d9e\n\nCairn-Schema: 1\n"
	want = strings.ReplaceAll(want, "1732976463", itoa(e.ID.Time().Unix()))
	if got := string(commitform.Event(tree, a, commitform.HeadOf(e))); got != want {
		t.Errorf("event commit\n%s\nwant\n%s", got, want)
	}

	merge := "tree 01" + zeros + "\nparent 02" + zeros + "\nparent 03" + zeros + "\n" +
		"author cairn <merge@cairn.invalid> 7 +0000\ncommitter cairn <merge@cairn.invalid> 7 +0000\n\nmerge\n"
	if got := string(commitform.Merge(tree, b, a, 7)); got != merge {
		t.Errorf("merge commit\n%s\nwant\n%s", got, merge)
	}
	if string(commitform.Merge(tree, a, b, 7)) != merge {
		t.Error("the order of the heads changes the merge")
	}

	root := string(commitform.Root(tree, e.ID))
	if strings.Contains(root, "parent") || !strings.HasSuffix(root, "\n\nroot: "+string(e.ID)+"\n") {
		t.Errorf("root commit\n%s", root)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestNoWordOfAUserIsInACommit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := eventtest.Events().Draw(t, "event")
		commit := string(commitform.Event(commitform.Hash{}, commitform.Hash{}, commitform.HeadOf(e)))
		fields, err := event.Fields(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			if len(f.Value) > 12 && f.Path != "subject.id" && f.Path != "payload.target" && strings.Contains(commit, f.Value) {
				t.Fatalf("field %s is in the commit\n%s", f.Path, commit)
			}
		}
	})
}

func TestAPathBelongsToOneID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := eventtest.Events().Draw(t, "event").ID
		got, ok := commitform.IDAt(commitform.Path(id))
		if !ok || got != id {
			t.Fatalf("path %s belongs to %q", commitform.Path(id), got)
		}
	})
	id := "01jdyrnk3s8q4b7ymx2v5c6d9e"
	for _, bad := range []string{"", id + ".json", "events/2024-11/30/14/" + id, "events/1970-01/01/00/" + id + ".json", "events/2024-11/30/14/x.json", "cairn.json"} {
		if _, ok := commitform.IDAt(bad); ok {
			t.Errorf("an event belongs at %q", bad)
		}
	}
}

func TestTheSpaceFileHasOneForm(t *testing.T) {
	s := commitform.Space{Name: "team", ID: event.NewID(time.Now())}
	b := commitform.EncodeSpace(s)
	if got, err := commitform.DecodeSpace(b); err != nil || got != s {
		t.Fatalf("read back %+v, %v", got, err)
	}
	for name, bad := range map[string]string{
		"empty":       "",
		"other text":  "hello\n",
		"extra":       strings.Replace(string(b), "{", `{ "extra": "x",`, 1),
		"no newline":  strings.TrimSpace(string(b)),
		"other name":  strings.Replace(string(b), "team", "../team", 1),
		"no space id": strings.Replace(string(b), string(s.ID), "", 1),
	} {
		if _, err := commitform.DecodeSpace([]byte(bad)); !errors.Is(err, commitform.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := strings.Replace(string(b), `"format": 1`, `"format": 2`, 1)
	if _, err := commitform.DecodeSpace([]byte(newer)); err == nil || errors.Is(err, commitform.ErrForeign) {
		t.Errorf("a newer format: %v", err)
	}
}
