package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cairn/internal/corpus"
	"cairn/internal/golden"
	"cairn/internal/measure"
)

func TestAllEnginesAnswerEveryClass(t *testing.T) {
	r, err := compare(t.Context(), t.TempDir(), 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	engines := 1 + len(tables)*len(drivers)
	if want := len(corpus.Classes()) * engines * 4; len(r.Rows) != want {
		t.Errorf("%d rows, want %d", len(r.Rows), want)
	}
	for _, row := range r.Rows {
		ours := strings.HasSuffix(row.Name, ", cairn")
		if row.N != 3 || row.P50 <= 0 || ours != (row.Ratio == 0) {
			t.Errorf("not a measurement, or without its ratio: %+v", row)
		}
	}
	for i, stage := range []string{"fresh", "live", "alone", "cold"} {
		if name := r.Rows[i*len(r.Rows)/4].Name; name != "rare word, "+stage+", cairn" {
			t.Errorf("the rows of %s begin with %s", stage, name)
		}
	}
	made := 2 * engines // the time and the size of each
	for i, a := range r.Amounts[:made] {
		unit := []string{"s", "MB"}[i%2]
		if !strings.Contains(a.Name, "cairn") == (a.Ratio == 0) || a.Value <= 0 || a.Unit != unit {
			t.Errorf("not what it took to make an engine: %+v", a)
		}
	}
	for _, a := range r.Amounts[made:] {
		if ours := strings.HasSuffix(a.Name, ", cairn, CPU"); a.Value < 0 || a.Unit != "ms" || ours && a.Ratio != 0 {
			t.Errorf("no time of a processor: %+v", a)
		}
	}
	for _, remark := range r.Remarks {
		if strings.Contains(remark, "cairn") || !strings.HasPrefix(remark, string(corpus.Chinese)) {
			t.Errorf("every note of these questions is there, yet: %s", remark)
		}
	}
	b, err := json.Marshal(r)
	var back measure.Report
	if err != nil || json.Unmarshal(b, &back) != nil || len(back.Rows) != len(r.Rows) {
		t.Errorf("its JSON is not the same: %s, %v", b, err)
	}
}

func TestWhatIsAskedOfFTS5(t *testing.T) {
	usual, good := tables[0], tables[1]
	for _, c := range []struct {
		table table
		query corpus.Query
		want  []string
	}{
		{usual, corpus.Query{Class: corpus.Rare, Words: []string{"badger"}}, []string{`"badger"`}},
		{usual, corpus.Query{Class: corpus.TwoWords, Words: []string{"a", "b"}}, []string{`"a" AND "b"`, `"a" OR "b"`}},
		{good, corpus.Query{Class: corpus.TwoWords, Words: []string{"a", "b"}}, []string{`"a" OR "b"`}},
		{good, corpus.Query{Class: corpus.Prefix2, Words: []string{"ba"}}, []string{`"ba"*`}},
		{usual, corpus.Query{Class: corpus.Phrase, Words: []string{"a", "b"}}, []string{`"a b"`}},
	} {
		if got := c.table.matches(questionOf(c.query)); !slices.Equal(got, c.want) {
			t.Errorf("%s, %q: got %q, want %q", c.table.name, c.query.Text(), got, c.want)
		}
	}
}

const aboutTides = `
notes:
  - {id: tide, title: Tides, text: the harbor falls dry at low water}
  - {id: mole, title: The mole, text: "the lamp on the mole is green; harbor pilots know it"}
questions:
  - {question: "when does the harbor's bottom fall dry?", find: tide}
  - {question: "???", find: none}
  - {question: lighthouse, find: mole}
`

func TestRecallOfEveryEngine(t *testing.T) {
	sets, err := golden.Parse([]byte(aboutTides))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := recall(t.Context(), t.TempDir(), sets)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(tables)*len(drivers) {
		t.Fatalf("rows of %d engines", len(rows))
	}
	for _, r := range rows {
		if r.Questions != 2 || r.RecallAt1 != 0.5 || r.Empty != 1 || r.NoneRight != 1 {
			t.Errorf("%s finds the tide and no lighthouse, yet: %+v", r.Engine, r.Figures)
		}
	}
}
