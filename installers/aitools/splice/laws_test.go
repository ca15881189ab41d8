package splice

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// files are the generators, each with the entries that are tried on what it makes.
var files = []struct {
	name    string
	make    func(*rapid.T) string
	entries []Entry
}{
	{"JSON", nastyJSON, []Entry{jsonServer, jsonHook}},
	{"TOML", nastyTOML, []Entry{tomlServer}},
	{"YAML", nastyYAML, []Entry{yamlServer, yamlHook}},
	{"text", nastyText, []Entry{block}},
}

// eachFile checks a law on many files. Texts that are refused say nothing, so it fails if too many are.
func eachFile(t *testing.T, law func(t *rapid.T, text []byte, entries []Entry) bool) {
	t.Parallel()
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			tried, held := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				tried++
				if law(t, []byte(f.make(t)), f.entries) {
					held++
				}
			})
			if held < tried*6/10 {
				t.Errorf("the law was seen on %d of %d texts only", held, tried)
			}
		})
	}
}

func TestInsertThenCutGivesTheBytesBack(t *testing.T) {
	eachFile(t, func(t *rapid.T, text []byte, entries []Entry) bool {
		now := text
		var done []Edit
		for _, e := range entries {
			edit, err := Insert(now, e)
			if err != nil {
				if !errors.Is(err, ErrNoPlace) {
					t.Fatalf("insert into %q: %v", text, err)
				}
				return false
			}
			if edit.Cut != 0 {
				t.Fatalf("an insertion cuts %d bytes", edit.Cut)
			}
			now = edit.Apply(now)
			done = append(done, edit)
			if state, err := Find(now, e); state != Current || err != nil {
				t.Fatalf("found %v, %v in %q", state, err, now)
			}
		}
		last := len(entries) - 1
		order := rapid.Permutation([]int{last, 0}[:len(entries)]).Draw(t, "order")
		for _, i := range order {
			cut, ok := CutText(now, entries[i], done[i].Put, done[i].At)
			if !ok && order[0] != last {
				return true // what was inserted later may stand on what was inserted before
			}
			if !ok {
				t.Fatalf("cannot cut %q out of %q", done[i].Put, now)
			}
			now = cut.Apply(now)
		}
		if !bytes.Equal(now, text) {
			t.Fatalf("got %q, had %q", now, text)
		}
		return true
	})
}

func TestCutByStructureLeavesTheRestSayingTheSame(t *testing.T) {
	eachFile(t, func(t *rapid.T, text []byte, entries []Entry) bool {
		e := rapid.SampledFrom(entries).Draw(t, "entry")
		before, err := Decode(text, e.Format)
		if err != nil {
			t.Fatal(err)
		}
		edit, err := Insert(text, e)
		if err != nil {
			return false
		}
		edits, err := Cut(edit.Apply(text), e)
		if err != nil {
			return e.Format == YAML // a table in braces is left to a person
		}
		after, err := Decode(applyAll(edit.Apply(text), edits), e.Format)
		if err != nil || !sameBut(e, after, before) {
			t.Fatalf("%q became %q: %v", text, applyAll(edit.Apply(text), edits), err)
		}
		return true
	})
}

func TestWhatWasAddedLaterSurvivesTheCut(t *testing.T) {
	eachFile(t, func(t *rapid.T, text []byte, entries []Entry) bool {
		ours := entries[0]
		later := ours
		later.Path = append(ours.Path[:len(ours.Path)-1:len(ours.Path)-1], "later")
		first, err := Insert(text, ours)
		if err != nil {
			return false
		}
		now := first.Apply(text)
		second, err := Insert(now, later)
		if err != nil {
			t.Fatalf("insert a second entry into %q: %v", now, err)
		}
		now = second.Apply(now)
		if cut, ok := CutText(now, ours, first.Put, first.At); ok {
			now = cut.Apply(now)
		} else if edits, err := Cut(now, ours); err == nil {
			now = applyAll(now, edits)
		} else {
			return ours.Format == YAML
		}
		if state, err := Find(now, later); state != Current || err != nil {
			t.Fatalf("the later entry is %v, %v in %q", state, err, now)
		}
		return true
	})
}
