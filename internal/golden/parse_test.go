package golden_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/internal/golden"
)

const inYAML = `
name: small
notes:
  - id: pg
    title: Billing uses Postgres
    text: |
      We chose Postgres.
      Indexes! 🎉
    tags: [billing, decision]
  - title: Café
    tags: food
questions:
  - question: which database
    find: [pg, Café, Billing uses Postgres]
    class: words
  - {question: who won the cup, find: none}
`

const inJSON = `{
  "name": "small",
  "docs": [
    {"id": "pg", "title": "Billing uses Postgres", "body": "We chose Postgres.\nIndexes! \ud83c\udf89\n", "tags": ["billing", "decision"]},
    {"title": "Caf\u00e9", "tags": ["food"]}
  ],
  "queries": [
    {"q": "which database", "rel": ["pg", "Café"], "cat": "words"},
	{"q": "who won the cup", "rel": []}
  ]
}`

func want() golden.Set {
	return golden.Set{
		Name: "small",
		Notes: []golden.Note{
			{ID: "pg", Title: "Billing uses Postgres", Text: "We chose Postgres.\nIndexes! 🎉\n", Tags: []string{"billing", "decision"}},
			{ID: "Café", Title: "Café", Tags: []string{"food"}},
		},
		Questions: []golden.Question{
			{Text: "which database", Find: []string{"pg", "Café"}, Class: "words"},
			{Text: "who won the cup"},
		},
	}
}

func TestYAMLAndJSONAndTheNamesOfPublishedSetsSayTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		at   [2][2]int // line and column of the questions
	}{
		"YAML":         {inYAML, [2][2]int{{13, 5}, {16, 5}}},
		"JSON":         {inJSON, [2][2]int{{8, 5}, {9, 2}}},
		"JSON, marked": {"\ufeff" + inJSON, [2][2]int{{8, 5}, {9, 2}}},
		"a list":       {"[" + strings.ReplaceAll(inJSON, "\n", "\r\n") + "]", [2][2]int{{8, 5}, {9, 2}}},
	} {
		got, err := golden.Parse([]byte(c.text))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d sets, %v", name, len(got), err)
			continue
		}
		for i := range got[0].Questions {
			q := &got[0].Questions[i]
			if q.Line != c.at[i][0] || q.Column != c.at[i][1] {
				t.Errorf("%s: question %d stands at %d:%d, want %v", name, i, q.Line, q.Column, c.at[i])
			}
			q.Line, q.Column = 0, 0
			if len(q.Find) == 0 {
				q.Find = nil
			}
		}
		if !reflect.DeepEqual(got[0], want()) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got[0], want())
		}
	}
}

func TestASetWithoutNotesTakesAnyNames(t *testing.T) {
	sets, err := golden.Parse([]byte("- questions: [{question: 12, find: 01jz3k}]\n- questions: []"))
	if err != nil || len(sets) != 2 || sets[0].Questions[0].Text != "12" || sets[0].Questions[0].Find[0] != "01jz3k" {
		t.Errorf("%+v, %v", sets, err)
	}
}

func TestMistakesHaveAPlaceAndSayWhatWasMeant(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: the file is empty"},
		{"\xff", "line 1: the file is not UTF-8"},
		{"a: [", "line 1: did not find expected node content"},
		{"questions: []", "line 1, column 1: there are no questions"},
		{"12", "line 1, column 1: a set is an object"},
		{"question: []", `line 1, column 1: a set has no member "question"; did you mean "questions"?; its members are name, notes, questions`},
		{"questions:\n - questoin: a", `line 2, column 4: a question has no member "questoin"; did you mean "question"?`},
		{"questions:\n - q: a\n   question: b", `line 3, column 4: a question has "question" twice`},
		{"questions:\n - q: a", `line 2, column 4: "find" is missing`},
		{"questions:\n - q: ' '\n   find: none", "line 2, column 4: the question is empty"},
		{"questions:\n - q: [a]\n   find: none", "line 2, column 7: this is a text, not a list or an object"},
		{"questions:\n - q: a\n   find: [b, '']", "line 3, column 14: this is empty"},
		{"questions: a", "line 1, column 12: this is a list"},
		{"notes: [{id: pgsql, text: b}]\nquestions:\n - q: a\n   find: [pgsq]", `line 4, column 11: no note of this set has the id or title "pgsq"; did you mean "pgsql"?`},
		{"notes: [{id: a, title: t}, {id: b, title: t}]\nquestions: [{q: x, find: t}]", `line 2, column 26: several notes have the title "t"`},
		{"notes: [{id: a, text: t}, {id: a, text: u}]\nquestions: []", "line 1, column 27: another note has the id a"},
		{"notes: [{id: a}]\nquestions: []", "line 1, column 9: the note has neither title nor text"},
		{"notes: [{text: a}]\nquestions: []", "line 1, column 9: the note has neither id nor title"},
		{"{\"questions\":\n [1, }", "line 2, column 6: invalid character '}'"},
		{`{"questions": [`, "line 1, column 16: the file ends too early"},
		{"{\"questions\": []}\n\nx", "line 3, column 1: something follows"},
		{"{\n \"questions\": [{\"qq\": 1}]}", `line 2, column 17: a question has no member "qq"; did you mean "q"?`},
		{strings.Repeat("[", 10_000), "line 1, column 18: this lies too deep"},
	} {
		_, err := golden.Parse([]byte(c.text))
		e, ok := errors.AsType[*golden.Error](err)
		if !ok || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%.80q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Whatever a file holds, it is read or has a mistake with a place; and what is
// read as JSON is read alike in other white space.
// Comparing each letter of two such names with each other would not end within
// the time that a test has.
func TestAVeryLongNameIsAMistakeLikeAnyOther(t *testing.T) {
	long := strings.Repeat("b", 2_000_000)
	_, err := golden.Parse([]byte(`{"notes": [{"id": "a` + long + `", "text": "x"}], "questions": [{"question": "q", "find": "c` + long + `"}]}`))
	mistake, ok := errors.AsType[*golden.Error](err)
	if !ok || mistake.Line != 1 || strings.Contains(mistake.Message, "did you mean") {
		t.Errorf("the name is not refused as one that nobody knows")
	}
}

func TestAReferenceSaysWhatItStandsFor(t *testing.T) {
	const file = `
notes: [{id: &id a, text: x, tags: &nothing null}, {id: b, text: &none none, tags: *nothing}]
questions:
  - {question: one, find: *id}
  - {question: two, find: *none}
  - {question: three, find: *nothing}
`
	sets, err := golden.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	for _, q := range sets[0].Questions {
		found = append(found, q.Find)
	}
	if !reflect.DeepEqual(found, [][]string{{"a"}, nil, nil}) || sets[0].Notes[1].Tags != nil {
		t.Errorf("read as %q, tags %q", found, sets[0].Notes[1].Tags)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{inYAML, inJSON, "a: &a [*a]", "&x [*x]", "{\"q\":\"\\ud800\"}", "- - -", "[{]", "? a\n: b", "{\"questions\":[{\"q\":1e9,\"rel\":null}]}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sets, err := golden.Parse(data)
		if err != nil {
			if e, ok := errors.AsType[*golden.Error](err); !ok || e.Line < 1 || e.Column < 0 || e.Message == "" {
				t.Fatalf("a mistake without a place: %#v", err)
			}
			return
		}
		for _, s := range sets {
			for _, q := range s.Questions {
				if q.Line < 1 || q.Column < 1 || strings.TrimSpace(q.Text) == "" {
					t.Fatalf("no question: %+v", q)
				}
			}
		}
		if !json.Valid(data) {
			return
		}
		indented, err := json.MarshalIndent(json.RawMessage(data), "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		again, err := golden.Parse(indented)
		if err != nil || len(again) != len(sets) {
			t.Fatalf("%d sets, then %d: %v", len(sets), len(again), err)
		}
	})
}

// A set that a program has written is one line, however long, and is read in one
// go over it.
func TestAVeryLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"notes":[`)
	for n := range 20_000 {
		fmt.Fprintf(&b, `{"id":"n%d","title":"Café %d","tags":["a","b"]},`, n, n)
	}
	b.WriteString(`{"id":"last","title":"é","tags":"a"}],"questions":[{"question":"x","find":["nowhere"]}]}]`)
	src := b.String()
	_, err := golden.Parse([]byte(src))
	mistake, ok := errors.AsType[*golden.Error](err)
	if !ok {
		t.Fatalf("%v, want a mistake", err)
	}
	if want := utf8.RuneCountInString(src[:strings.Index(src, `"nowhere"`)]) + 1; mistake.Line != 1 || mistake.Column != want {
		t.Errorf("%v, want column %d", mistake, want)
	}
}
