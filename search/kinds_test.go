package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/search"
	"cairn/search/analysis"
)

// A spot is a place for one note, among a few that have nothing to do with it.
type spot struct {
	x  *search.Index
	id event.ID
}

func newSpot(t *testing.T) spot {
	t.Helper()
	s := spot{x: open(t, t.TempDir()), id: idAt(1000)}
	var others []search.Doc
	for i := range 20 {
		others = append(others, note(i, fmt.Sprintf("nothing to see here, number %d of v%d.%d", 100+i, 200+i%3, 300+i%5)))
	}
	apply(t, s.x, "team", others...)
	return s
}

// wantFirst puts a note of that body in the spot, to which each of the queries
// has to lead.
func (s spot) wantFirst(t *rapid.T, body string, queries ...string) {
	d := search.Doc{ID: s.id, Body: body, Recorded: s.id.Time()}
	if err := s.x.Apply(t.Context(), search.Batch{Space: "team", Put: []search.Doc{d}}); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		r, err := s.x.Ask(t.Context(), search.Query{Text: q, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hits) == 0 || r.Hits[0].ID != s.id {
			t.Fatalf("%q does not lead to the note %q but to %v (%s)", q, body, r.Hits, r.Note)
		}
	}
}

var (
	kindWords  = strings.Fields("fastapi users payment gateway ledger tokio session broker kernel window")
	kindJoints = []string{"-", "_", ".", "/", "::", "@", "\\"}
)

// A name is found by its first parts and the beginning of the next one, in
// whatever way they are joined.
func TestANameIsFoundByItsBeginning(t *testing.T) {
	t.Parallel()
	s := newSpot(t)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfNDistinct(rapid.SampledFrom(kindWords), 2, 4, rapid.ID).Draw(t, "parts")
		whole := rapid.IntRange(1, len(parts)-1).Draw(t, "whole")
		cut := parts[whole][:rapid.IntRange(1, len(parts[whole])).Draw(t, "cut")]
		joint := rapid.SampledFrom(kindJoints)
		name, as := joint.Draw(t, "joint"), joint.Draw(t, "query joint")
		if len(cut) == 1 {
			as = name // a single letter tells only in the very name
		}
		typed := strings.Join(append(slices.Clone(parts[:whole]), cut), as)
		s.wantFirst(t, "see "+strings.Join(parts, name)+", it hangs", typed, strings.ToUpper(typed), typed+"*")
	})
}

// A name with humps is found by any of its parts, in any order.
func TestANameWithHumpsIsFoundByItsParts(t *testing.T) {
	t.Parallel()
	s := newSpot(t)
	humps := strings.Fields("OAuth2 Password Bearer Parser Base64 Effect Server Queue Utf8 Lock")
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfNDistinct(rapid.SampledFrom(humps), 2, 4, rapid.ID).Draw(t, "parts")
		some := rapid.Permutation(parts).Draw(t, "order")[:rapid.IntRange(1, len(parts)).Draw(t, "some")]
		name := strings.Join(parts, "")
		if rapid.Bool().Draw(t, "small") {
			name = strings.ToLower(name[:1]) + name[1:]
		}
		typed := strings.Join(some, " ")
		s.wantFirst(t, "wrap it in "+name+"(x) first", typed, strings.ToLower(typed), name, strings.ToLower(name))
	})
}

// A version is found with and without its v, and by its first numbers.
func TestAVersionIsFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := newSpot(t)
	rapid.Check(t, func(t *rapid.T) {
		var numbers []string
		for range rapid.IntRange(2, 4).Draw(t, "numbers") {
			numbers = append(numbers, fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "number")))
		}
		v := rapid.SampledFrom([]string{"", "v"})
		written := v.Draw(t, "written") + strings.Join(numbers, ".")
		text := rapid.SampledFrom([]string{"fixed in %s.", "(%s)", "upgrade to %s, then stop", "“%s”"}).Draw(t, "text")
		some := numbers[:rapid.IntRange(2, len(numbers)).Draw(t, "some")]
		s.wantFirst(t, fmt.Sprintf(text, written), v.Draw(t, "asked")+strings.Join(numbers, "."), strings.Join(some, "."))
	})
}

// However many notes hold other forms, the one that holds the word as it was
// typed comes first.
func TestTheExactFormIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	old := note(0, "all about the university of it")
	docs := []search.Doc{old}
	for i := range 200 {
		docs = append(docs, note(i+1, "all about the universe of it"))
	}
	apply(t, x, "team", docs...)
	if got := askWith(t, x, search.Query{Text: "university", Limit: 1}); len(got) != 1 || got[0] != old.ID {
		t.Errorf("university finds %v, want %s", got, old.ID)
	}
}

// Words that share a stem find one another, and each its own notes first,
// however old they are.
func TestTheExactFormComesBeforeOthersOfItsStem(t *testing.T) {
	t.Parallel()
	families := map[string][]string{}
	for _, w := range strings.Fields(`university universe universal universities organization organ organize general generally generous generalize
		cache caches caching cached lock locks locking locked policy policies police connect connection connected connecting`) {
		stem := analysis.Stem(w)
		families[stem] = append(families[stem], w)
	}
	for stem, family := range families {
		if len(family) < 2 {
			continue
		}
		x := open(t, t.TempDir())
		first := map[string]event.ID{}
		n := 0
		for _, w := range family { // the others come later, and more of them
			d := note(n, "all about the "+w+" of it")
			apply(t, x, "team", d)
			first[w] = d.ID
			n++
		}
		for i := range 8 {
			apply(t, x, "team", note(n, fmt.Sprintf("all about the %s of it", family[i%len(family)])))
			n++
		}
		for _, w := range family {
			got := askWith(t, x, search.Query{Text: w, Limit: 50})
			if len(got) != n {
				t.Errorf("%q finds %d of the %d notes of the stem %s", w, len(got), n, stem)
			}
			own := slices.Index(got, first[w])
			for other, id := range first {
				if at := slices.Index(got, id); other != w && at >= 0 && at < own {
					t.Errorf("%q finds %q before itself", w, other)
				}
			}
		}
	}
}

// Whatever a line holds, it leads to the note that holds it.
func TestAnOddLineLeadsToItsNote(t *testing.T) {
	t.Parallel()
	lines := []string{
		"error: timeout while dialing", "https://example.com/a?b=c#d", "C++ (x)", "foo-bar", `a"b`, "NOT NULL constraint", "std::vector<int>", "kind: of blue",
		"tag: youre it", "[x] done", "$HOME/.config/nvim", "make && make install", "true || false", "fixes #4242", "ask @alice", "at 99.5%", "🚀 launch",
		"key=value pairs", `say "cheese"`, "it's late", "since: forever", "title page", "Device::new()", "a* search", "(parenthesis", "semi;colon", "C:\\Users\\ana",
		"--no-color", "-foo", "naïve café", "x AND y gate", "OR is SQL", "<b>bold</b>", "{json: 1}", "`code`", "~/notes", "50€", "project:// scheme",
	}
	x := open(t, t.TempDir())
	ids := map[event.ID]string{}
	for i, l := range lines {
		d := note(i, l)
		apply(t, x, "team", d)
		ids[d.ID] = l
	}
	for _, l := range lines {
		var found []string
		for _, id := range askWith(t, x, search.Query{Text: l, Limit: 3}) {
			found = append(found, ids[id])
		}
		if !slices.Contains(found, l) {
			t.Errorf("%q leads to %q", l, found)
		}
	}
}

// A line that a program printed leads to the note about it, whatever it quotes,
// though another note has the very word that is quoted.
func TestALineOfAProgramLeadsToItsNote(t *testing.T) {
	t.Parallel()
	s := newSpot(t)
	apply(t, s.x, "team", note(500, "the checkout service of the main shop sells a worker window"))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(strings.Fields("main checkout worker shop window")).Draw(t, "name")
		form := rapid.SampledFrom([]string{
			`Exception in thread "%s" java.lang.OutOfMemoryError: unable to create native thread`,
			`FATAL: database "%s" must be vacuumed within 100 transactions`,
			`UPGRADE FAILED: release “%s”: another operation (rollback) is in progress`,
			`{"error":"%s","error_description":"Token used too early"}`,
			`time=12:00 level=error service="%s" msg="no space left on device"`,
		}).Draw(t, "form")
		said := strings.NewReplacer("“%s”", "orders", `"%s"`, "orders").Replace(form)
		s.wantFirst(t, "it said "+said+" and hung", fmt.Sprintf(form, name))
	})
}

// A word in another case or number leads to the note that has it, in languages
// that no stemmer here knows as well.
func TestAWordIsFoundWithAnotherEnding(t *testing.T) {
	t.Parallel()
	s := newSpot(t)
	for _, c := range [][2]string{
		{"Datensicherung", "Datensicherungen"}, {"Rufbereitschaft", "Rufbereitschaften"}, {"Urlaubsvertretung", "urlaubsvertretungen"}, {"tauscht", "tauschen"},
		{"восстановления", "восстановлением"}, {"переменных", "переменная"}, {"шифрования", "шифрованием"},
	} {
		apply(t, s.x, "team", search.Doc{ID: s.id, Body: "hier steht " + c[0] + " und mehr", Recorded: s.id.Time()})
		r, err := s.x.Ask(t.Context(), search.Query{Text: c[1]})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hits) != 1 || r.Hits[0].ID != s.id || !strings.Contains(r.Note, strings.ToLower(c[0])) {
			t.Errorf("%q leads to %v (%s), and not to the note with %q", c[1], r.Hits, r.Note, c[0])
		}
		m := search.NewMarker(c[1], "", c[0])
		if len(m.Text(c[0])) != 1 {
			t.Errorf("%q does not mark %q", c[1], c[0])
		}
	}
}

// The start of a word finds it however many notes hold the start itself as the
// sum of a name, such as io of I/O, which begins nothing.
func TestAStartIsFoundBesideNamesThatReadLikeIt(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][2]string{"io": {"I/O", "iota"}, "eg": {"e.g.", "eggs"}, "leau": {"l'eau", "leaux"}, "ab": {"a_b", "abbey"}} {
		for sums := range 3 {
			x := open(t, t.TempDir())
			whole := note(9, "the heron knows "+words[1])
			docs := []search.Doc{whole}
			for i := range sums {
				docs = append(docs, note(i, "the heron knows "+words[0]))
			}
			apply(t, x, "team", docs...)
			for _, typing := range []bool{true, false} {
				got := askWith(t, x, search.Query{Text: name, Prefix: typing})
				if len(got) != len(docs) || !slices.Contains(got, whole.ID) {
					t.Errorf("%q beside %d notes with %q finds %d of %d notes, typing: %v", name, sums, words[0], len(got), len(docs), typing)
				}
			}
		}
	}
}
