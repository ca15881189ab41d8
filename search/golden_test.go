package search_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/search"
)

// The golden set: notes and questions as people write them. Each class of
// questions has a floor of its own; a change that loses questions shows which.

type goldenNote struct {
	name string
	doc  search.Doc
}

type goldenQuestion struct {
	class, text string
	want        []string // empty: nothing fits
}

func goldenLines(t *testing.T, name string, fields int) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][]string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "# ") {
			continue
		}
		parts := strings.SplitN(lines.Text(), " | ", fields)
		if len(parts) != fields {
			t.Fatalf("%s: %q has no %d fields", name, lines.Text(), fields)
		}
		out = append(out, parts)
	}
	return out
}

func goldenNotes(t *testing.T) []goldenNote {
	t.Helper()
	var out []goldenNote
	for i, f := range goldenLines(t, "notes.txt", 4) {
		d := note(i, f[3])
		d.Title, d.Kind, d.Actor, d.Device, d.Harness = f[1], "observe", "ana", "laptop-7f3a", "claude-code"
		for tag := range strings.SplitSeq(f[2], ",") {
			d.Tags = append(d.Tags, strings.TrimSpace(tag))
		}
		out = append(out, goldenNote{name: f[0], doc: d})
	}
	return out
}

func goldenQuestions(t *testing.T) []goldenQuestion {
	t.Helper()
	var out []goldenQuestion
	for _, f := range goldenLines(t, "questions.txt", 3) {
		out = append(out, goldenQuestion{class: f[0], text: f[1], want: strings.Fields(f[2])})
	}
	return out
}

// goldenFloor is how many questions of a class may be lost.
var goldenFloor = map[string]int{}

func TestGoldenQuestions(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	names := map[event.ID]string{}
	var docs []search.Doc
	for _, n := range goldenNotes(t) {
		names[n.doc.ID] = n.name
		docs = append(docs, n.doc)
	}
	apply(t, x, "team", docs...)
	lost, asked := map[string][]string{}, map[string]int{}
	for _, q := range goldenQuestions(t) {
		class := q.class
		if len(q.want) == 0 {
			class = "nothing"
		}
		asked[class]++
		var found []string
		for _, id := range askWith(t, x, search.Query{Text: q.text, Limit: 5}) {
			found = append(found, names[id])
		}
		if !goldenFound(found, q.want) {
			lost[class] = append(lost[class], q.text+"\n\twant "+strings.Join(q.want, " ")+"\n\tfound "+strings.Join(found, " "))
		}
	}
	for class, n := range asked {
		t.Logf("%s: %d of %d", class, n-len(lost[class]), n)
		if len(lost[class]) > goldenFloor[class] {
			t.Errorf("class %s lost %d of %d questions, at most %d are allowed:\n%s",
				class, len(lost[class]), n, goldenFloor[class], strings.Join(lost[class], "\n"))
		}
	}
}

func goldenFound(found, want []string) bool {
	if len(want) == 0 {
		return len(found) == 0
	}
	for _, name := range want {
		if !slices.Contains(found, name) {
			return false
		}
	}
	return true
}
