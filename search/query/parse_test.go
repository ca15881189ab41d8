package query_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/search/query"
)

var update = flag.Bool("update", false, "rewrite the expected readings")

// show writes a query so that a person can check it: plain words as they are
// wanted, + what must match, - what must not, | between expressions.
func show(q query.Query) string {
	var out []string
	for _, e := range q.Either {
		var parts []string
		for _, w := range e.Want {
			parts = append(parts, showWord(w))
		}
		for _, t := range e.Must {
			parts = append(parts, "+"+showTerm(t))
		}
		for _, t := range e.Not {
			parts = append(parts, "-"+showTerm(t))
		}
		out = append(out, strings.Join(parts, " "))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, " | ")
}

func showTerm(t query.Term) string {
	switch {
	case t.Word != nil:
		return showWord(*t.Word)
	case t.Phrase != nil:
		return showField(t.Phrase.Field) + `"` + strings.Join(t.Phrase.Words, " ") + `"`
	}
	return "(" + show(*t.Group) + ")"
}

func showWord(w query.Word) string {
	out := showField(w.Field) + strings.Join(w.Parts, "·")
	if len(w.Whole) > 0 {
		out += "=" + strings.Join(w.Whole, "=")
	}
	if w.Base != "" {
		out += "~" + w.Base
	}
	if w.Open {
		out += "…"
	}
	if w.Star {
		out += "*"
	}
	return out
}

func showField(f query.Field) string {
	return [...]string{query.Anywhere: "", query.Title: "title:", query.Tag: "tag:"}[f]
}

// testdata/readings.txt holds pairs of lines: what was typed, quoted, and what
// it is read as.
func TestReadings(t *testing.T) {
	path := filepath.Join("testdata", "readings.txt")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	for lines := bufio.NewScanner(f); lines.Scan(); {
		typed := lines.Text()
		if typed == "" || strings.HasPrefix(typed, "# ") {
			fmt.Fprintln(&out, typed)
			continue
		}
		var text string
		if _, err := fmt.Sscanf(typed, "%q", &text); err != nil {
			t.Fatalf("%s: %q is no quoted question: %v", path, typed, err)
		}
		lines.Scan()
		got := "\t" + show(query.Parse(text))
		if want := lines.Text(); got != want && !*update {
			t.Errorf("%s is read as\n%s, want\n%s", typed, got, want)
		}
		fmt.Fprintf(&out, "%s\n%s\n", typed, got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALongQuestionIsCut(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "word%04d ", i)
	}
	q := query.Parse(text.String())
	if n := len(q.Either[0].Want); n == 0 || n > 256 {
		t.Errorf("a question of 5000 words is read as %d", n)
	}
}

func TestTenThousandSymbolsAreNoQuestion(t *testing.T) {
	for _, unit := range []string{"(", ")", "\"", "*", "-", "!@#$%^&*", "«", "() ", "NOT ", "\x00"} {
		query.Parse(strings.Repeat(unit, 10_000/len(unit)))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"which database", `"file lock" NOT x`, "(a OR b) AND c", "title:x tag:\"y z\"", "fast*", "我们为什么选Redis", "\xff\"", "NOT NOT AND OR ((", "C++ c#",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := query.Parse(text)
		for _, e := range q.Either {
			if len(e.Want) == 0 && len(e.Must) == 0 {
				t.Fatalf("%q is read as something that anything matches: %s", text, show(q))
			}
		}
		q.Words(func(w query.Word) {
			if len(w.Parts) == 0 || w.Text == "" {
				t.Fatalf("%q holds a word without forms: %+v", text, w)
			}
			for _, form := range append(w.Parts, w.Whole...) {
				if form == "" || strings.ContainsAny(form, " \n\x00\x01\x02") {
					t.Fatalf("%q holds a word with the form %q", text, form)
				}
			}
		}, func(p query.Phrase) {
			if len(p.Words) == 0 {
				t.Fatalf("%q holds a phrase without words", text)
			}
		})
	})
}
