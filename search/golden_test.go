package search_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/search"
	"cairn/search/analysis"
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
var goldenFloor = map[string]int{
	"nothing":    1, // a single word that says little is shared with a note, as in "the population of Iceland"
	"paraphrase": 1, // a webhook is a hook, which no rule about words tells
}

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

// The set is large enough to mean something.
func TestGoldenSetIsLarge(t *testing.T) {
	nothing := 0
	for _, q := range goldenQuestions(t) {
		if len(q.want) == 0 {
			nothing++
		}
	}
	if notes, questions := len(goldenNotes(t)), len(goldenQuestions(t)); notes < 200 || questions < 200 || nothing < 20 {
		t.Errorf("%d notes, %d questions, %d of them without an answer", notes, questions, nothing)
	}
}

// solidRuns are the stretches of Chinese, Japanese and Korean in the golden
// notes.
func solidRuns(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, n := range goldenNotes(t) {
		for span := range analysis.Spans(n.doc.Title + " " + n.doc.Body) {
			if span.Solid {
				out = append(out, span.Text)
			}
		}
	}
	return out
}

// Any one to four characters of a Chinese, Japanese or Korean note lead to it,
// unless more notes have them than there are places.
func TestAnyFewCharactersLeadToTheirNotes(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	notes := goldenNotes(t)
	var docs []search.Doc
	for _, n := range notes {
		docs = append(docs, n.doc)
	}
	apply(t, x, "team", docs...)
	asked, lost := 0, []string{}
	for i, run := range solidRuns(t) {
		runes := []rune(run)
		from := i % len(runes) // one piece of each run: some hundred questions in all
		piece := string(runes[from:min(from+1+i%4, len(runes))])
		want := []event.ID{}
		for _, n := range notes {
			if strings.Contains(n.doc.Title+"\x00"+n.doc.Body, piece) {
				want = append(want, n.doc.ID)
			}
		}
		if len(want) > 5 {
			continue
		}
		asked++
		got := askWith(t, x, search.Query{Text: piece, Limit: 5})
		for _, id := range want {
			if !slices.Contains(got, id) {
				lost = append(lost, piece)
				break
			}
		}
	}
	if asked < 50 || len(lost)*20 > asked {
		t.Errorf("%d of %d pieces do not lead to their notes: %s", len(lost), asked, strings.Join(lost, " "))
	}
	t.Logf("%d of %d pieces are lost: %s", len(lost), asked, strings.Join(lost, " "))
}

// In a whole sentence most pairs of characters lie across two words and are in
// no note. A note that holds half of its words is found nevertheless, and one
// that holds a single word of many is not.
func TestWordsInAChineseSentenceLeadToTheirNote(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	var docs []search.Doc
	for _, n := range goldenNotes(t) {
		docs = append(docs, n.doc)
	}
	apply(t, x, "team", docs...)
	long, turns := regexp.MustCompile(`^\p{Han}{6,}$`), regexp.MustCompile("的|需要|可以")
	asked := 0
	for _, run := range solidRuns(t) {
		if !long.MatchString(run) || turns.MatchString(run) {
			continue
		}
		runes := []rune(run)
		first, last := string(runes[:2]), string(runes[len(runes)-2:])
		if got := askWith(t, x, search.Query{Text: first + "麒麟貔貅" + last}); len(got) == 0 {
			t.Errorf("%q and %q with strange words between them lead nowhere", first, last)
		}
		if got := askWith(t, x, search.Query{Text: first + "麒麟貔貅饕餮"}); len(got) > 0 {
			t.Errorf("%q beside strange words is taken for an answer", first)
		}
		asked++
	}
	if asked < 20 {
		t.Errorf("%d pieces asked", asked)
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
