package query_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/search/query"
)

var update = flag.Bool("update", false, "rewrite the expected readings")

// show writes a query so that a person can check it: plain words as they are
// wanted, + what must match, - what must not, | between expressions, what
// narrows it behind "in".
func show(q query.Query) string {
	var out []string
	for _, e := range q.Either {
		var parts []string
		for _, w := range e.Want {
			parts = append(parts, showWord(w))
		}
		parts = append(parts, showTerms("+", e.Must)...)
		parts = append(parts, showTerms("-", e.Not)...)
		out = append(out, strings.Join(parts, " "))
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	shown := strings.Join(out, " | ")
	if narrow := append(showTerms("+", q.Only), showTerms("-", q.Never)...); len(narrow) > 0 {
		shown += " in " + strings.Join(narrow, " ")
	}
	for _, r := range q.Remarks {
		shown += "; " + r
	}
	return shown
}

func showTerms(sign string, terms []query.Term) (out []string) {
	for _, t := range terms {
		out = append(out, sign+showTerm(t))
	}
	return out
}

func showTerm(t query.Term) string {
	switch {
	case t.Word != nil:
		return showWord(*t.Word)
	case t.Phrase != nil:
		return t.Phrase.Field.String() + `"` + strings.Join(t.Phrase.Words, " ") + `"`
	case t.Filter != nil:
		return fmt.Sprintf("%v<%s>", t.Filter.Field, t.Filter.Value)
	}
	return "(" + show(*t.Group) + ")"
}

func showWord(w query.Word) string {
	out := w.Field.String() + strings.Join(w.Parts, "·")
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

// A text without spaces, such as a program made small, is one name of as many
// parts as there are words in it.
func TestALongNameIsCut(t *testing.T) {
	for _, joint := range []string{".", "/", "_", "-x ", " "} {
		var words []string
		for i := range 4000 {
			words = append(words, fmt.Sprintf("w%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676))
		}
		text := strings.Join(words, joint)
		for _, text := range []string{text, `"` + text + `"`, "x NOT " + text, "title:" + text} {
			q := query.Parse(text)
			if plain, ok := q.AnyWord(); ok {
				checkParts(t, text, plain)
			}
			checkParts(t, text, q)
		}
	}
}

func checkParts(t *testing.T, text string, q query.Query) {
	n := 0
	count := func(w query.Word) {
		if n += len(w.Parts); len(w.Parts) == 0 || len(w.Parts) > 64 {
			t.Errorf("%.20q has a word of %d parts", text, len(w.Parts))
		}
	}
	q.Words(count, func(p query.Phrase) { n += len(p.Words) })
	for _, e := range q.Either {
		for _, not := range e.Not {
			if not.Word != nil {
				count(*not.Word)
			}
		}
	}
	if n == 0 || n > 512 {
		t.Errorf("%.20q is read as %d parts", text, n)
	}
}

// What an answer says of a question does not grow with the question.
func TestRemarksAreFewAndDiffer(t *testing.T) {
	for format, want := range map[string]int{"since:x ": 1, "until:x%d ": 4} {
		var text strings.Builder
		for i := range 2000 {
			text.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
		}
		if q := query.Parse(text.String()); len(q.Remarks) != want {
			t.Errorf("2000 times %q gives %d remarks, want %d", format, len(q.Remarks), want)
		}
	}
}

func TestTenThousandSymbolsAreNoQuestion(t *testing.T) {
	for _, unit := range []string{"(", ")", "\"", "*", "-", "!@#$%^&*", "«", "() ", "NOT ", "\x00"} {
		query.Parse(strings.Repeat(unit, 10_000/len(unit)))
	}
}

// A filter says nothing about what is looked for: wherever it stands among
// plain words, the rest of the question is read as it would be alone.
func TestAFilterLeavesTheQuestionAsItIs(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"redis", "the", "file-lock", "C++", "缓存", "cach", `"a phrase"`, "title:x", "to:be"}), 1, 5)
	filter := rapid.SampledFrom([]string{"kind:lesson", "Tag:\"my app\"", "NOT project:my-app-v2", "-tag:old", "since:7d", "(tag:a OR tag:b)"})
	rapid.Check(t, func(t *rapid.T) {
		w := words.Draw(t, "words")
		plain := query.Parse(strings.Join(w, " "))
		narrowed := query.Parse(strings.Join(append(w, filter.Draw(t, "filter")), " "))
		if len(narrowed.Only)+len(narrowed.Never) != 1 {
			t.Fatalf("%q narrows by %s", w, show(narrowed))
		}
		narrowed.Only, narrowed.Never = nil, nil
		if show(plain) != show(narrowed) {
			t.Fatalf("%q is read as %s, with a filter as %s", w, show(plain), show(narrowed))
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"which database", `"file lock" NOT x`, "(a OR b) AND c", "title:x tag:\"y z\"", "fast*", "我们为什么选Redis", "\xff\"", "NOT NOT AND OR ((", "C++ c#",
		"kind:lesson redis", "-tag:a NOT (tag:b OR kind:c)", "x OR NOT tag:y", "since:7d until:nonsense TAG: title:", "std::vector http://x tag::y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := query.Parse(text)
		for _, e := range q.Either {
			if len(e.Want) == 0 && len(e.Must) == 0 && len(filtersOf(query.Query{Either: []query.Expr{e}})) == 0 {
				t.Fatalf("%q is read as something that anything matches: %s", text, show(q))
			}
		}
		for _, filter := range filtersOf(q) {
			if filter.Field <= query.Title || strings.TrimSpace(filter.Value) == "" {
				t.Fatalf("%q holds a filter that is none: %+v", text, filter)
			}
		}
		checkWords(t, text, q)
	})
}

func filtersOf(q query.Query) (out []query.Filter) {
	terms := slices.Concat(q.Only, q.Never)
	for _, e := range q.Either {
		terms = slices.Concat(terms, e.Must, e.Not)
	}
	for _, t := range terms {
		switch {
		case t.Filter != nil:
			out = append(out, *t.Filter)
		case t.Group != nil:
			out = append(out, filtersOf(*t.Group)...)
		}
	}
	return out
}

func checkWords(t *testing.T, text string, q query.Query) {
	q.Words(func(w query.Word) {
		if len(w.Parts) == 0 || w.Text == "" || w.Field > query.Title {
			t.Fatalf("%q holds a word without forms: %+v", text, w)
		}
		for _, form := range append(w.Parts, w.Whole...) {
			if form == "" || strings.ContainsAny(form, " \n\x00\x01\x02") {
				t.Fatalf("%q holds a word with the form %q", text, form)
			}
		}
	}, func(p query.Phrase) {
		if len(p.Words) == 0 || p.Field > query.Title {
			t.Fatalf("%q holds a phrase without words: %+v", text, p)
		}
	})
}

// A question begins with a word that says nothing, and other sentences hold
// two; names in them have a capital.
func TestASentenceIsToldFromKeywords(t *testing.T) {
	for text, names := range map[string][]string{
		"what did John tell the Bank": {"John", "Bank"},
		"which city is it":            {},
		"John told the bank":          nil,
		"cheapest hotel in Lisbon":    nil,
		"a copy of their Data":        {"Data"},
		"users want a copy of Data":   {"Data"}, // two words that say nothing
		"what":                        nil,
		"":                            nil,
	} {
		var got []string
		asks := false
		for _, e := range query.Parse(text).Either {
			asks = asks || e.Asks
			for _, w := range e.Want {
				if w.Name {
					got = append(got, w.Text)
				}
			}
		}
		if asks != (names != nil) || !slices.Equal(got, names) && len(got)+len(names) > 0 {
			t.Errorf("%q is a sentence: %v, with the names %q", text, asks, got)
		}
	}
}
