package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

func TestWhatIsNotCurrentIsHiddenOrMarked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	old := h.note("badger one")
	young := h.act(&event.Observe{Content: "badger two", Supersedes: old})
	away, secret := h.note("badger three"), h.note("badger four")
	end := event.NewTime(day(1))
	over := h.act(&event.Claim{Key: "five", Content: "badger five", ValidTo: &end})
	h.archive(away)
	h.redact(secret)
	h.finds("badger", young)
	want := map[event.ID]api.State{young: api.Live, old: api.Superseded, away: api.Archived, over: api.Expired}
	hits := h.settled(api.Query{Text: "badger", All: true, Limit: 50}).Hits
	if len(hits) != len(want) {
		t.Errorf("all: %v", idsOf(hits))
	}
	for i, hit := range hits {
		if hit.State != want[hit.ID] {
			t.Errorf("%q is %s", hit.Text, hit.State)
		}
		if hit.ID == old && (hit.SupersededBy != young || slices.Index(idsOf(hits), young) > i) {
			t.Errorf("superseded by %q, at %d", hit.SupersededBy, i)
		}
	}
	if got := h.log(api.Query{Filter: api.Filter{Kind: event.KindObserve}}); !slices.Equal(got, []event.ID{young}) {
		t.Errorf("log %v", got)
	}
	all := h.log(api.Query{All: true, Filter: api.Filter{Kind: event.KindObserve}})
	if !slices.Equal(all, []event.ID{secret, away, young, old}) {
		t.Errorf("log of all %v", all)
	}
}

func TestARedactedTextIsNowhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := note("the badger is called Wilfred")
	d.Tags, d.Project = []string{"wilfredtag"}, "wilfredproject"
	id := h.save(d).ID
	h.finds("wilfred", id)
	h.redact(id)
	h.finds("wilfred")
	h.findsIn(api.Query{Text: "badger", All: true})
	answer, err := h.Log(t.Context(), api.Query{All: true})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := h.Digest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := h.show(string(id))
	everything := fmt.Sprintf("%+v %s %+v %q", answer, digest, shown, h.exported(""))
	if strings.Contains(strings.ToLower(everything), "wilfred") {
		t.Errorf("the text shows in %s", everything)
	}
	if shown.State != api.Redacted || shown.Hit.Kind != event.KindObserve {
		t.Errorf("shown %+v", shown)
	}
}

// What was redacted leaves the files of the index as well.
func TestARedactedTextLeavesTheIndex(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for i := range 20 {
		h.note(fmt.Sprint("badger ", i))
	}
	id := h.note("the badger is called Wilfred")
	h.finds("wilfred", id)
	holds := func() (n int) {
		eachFile(t, h.dir.Index(), func(_ string, b []byte) { n += strings.Count(string(b), "wilfred") })
		return n
	}
	h.close() // so that everything is on disk
	if holds() == 0 {
		t.Fatal("the index does not hold the word in the first place")
	}
	h.open()
	h.redact(id)
	for deadline := time.Now().Add(30 * time.Second); holds() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the index still holds the word")
		}
	}
	h.finds("wilfred")
}

func TestARefutedNoteComesLaterAndIsMarked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	b := h.note("badgers fly to the moon")
	a := h.note("badgers fly to the moon at night, they say")
	h.act(&event.Verify{Target: b, Verdict: event.Refuted, Attestation: "no"})
	hits := h.finds("badgers fly moon", a, b)
	if hits[1].Verdict != "refuted" || hits[0].Verdict != "" {
		t.Errorf("verdicts %q, %q", hits[0].Verdict, hits[1].Verdict)
	}
}

func TestAPreferenceThatWasReplacedComesAfterIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	x, y := h.save(pref("tabs")).ID, h.save(pref("spaces")).ID
	h.finds("style", y)
	hits := h.findsIn(api.Query{Text: "indent tabs", All: true}, y, x)
	if len(hits) == 2 && (hits[1].State != api.Superseded || hits[1].SupersededBy != y) {
		t.Errorf("hit %+v", hits[1])
	}
}

func TestFiltersNarrow(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := note("badger one")
	d.Project, d.Tags, d.Actor = "my-app-v2", []string{"go"}, event.Actor{Harness: "codex", ID: "codex"}
	one := h.save(d).ID
	d = note("badger two")
	d.Space = "team"
	two := h.save(d).ID
	three := h.act(&event.Pref{Category: "badger", Key: "three", Value: "yes"})
	for name, tt := range map[string]struct {
		filter api.Filter
		want   []event.ID
	}{
		"none":    {api.Filter{}, []event.ID{three, two, one}},
		"project": {api.Filter{Project: "my-app-v2"}, []event.ID{one}},
		"tag":     {api.Filter{Tags: []string{"go"}}, []event.ID{one}},
		"harness": {api.Filter{Harness: "codex"}, []event.ID{one}},
		"actor":   {api.Filter{Actor: "human"}, []event.ID{three, two}},
		"space":   {api.Filter{Space: "team"}, []event.ID{two}},
		"kind":    {api.Filter{Kind: event.KindPref}, []event.ID{three}},
		"device":  {api.Filter{Device: strings.ToUpper(h.show(string(one)).Device[:6])}, []event.ID{three, two, one}},
		"no such": {api.Filter{Device: h.show(string(one)).Device[:5]}, nil},
		"subject": {api.Filter{Subject: "badger/three"}, []event.ID{three}},
		"future":  {api.Filter{Since: &event.Time{Time: three.Time().Add(time.Hour)}}, nil},
		"until":   {api.Filter{Until: &event.Time{Time: one.Time()}}, nil},
	} {
		if got := h.log(api.Query{Filter: tt.filter}); !slices.Equal(got, tt.want) {
			t.Errorf("log by %s: %v", name, got)
		}
		got := idsOf(h.settled(api.Query{Text: "badger", Filter: tt.filter}).Hits)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(tt.want))
		if !slices.Equal(got, want) {
			t.Errorf("ask by %s: %v, want %v", name, got, want)
		}
	}
	if hit := h.finds("badger one", one, three, two)[0]; hit.Project != "my-app-v2" || hit.Harness != "codex" {
		t.Errorf("hit %+v", hit)
	}
	_, err := h.Ask(t.Context(), api.Query{Text: "x", Filter: api.Filter{Space: "nowhere"}})
	if problem.Of(err).Code != problem.NotFound {
		t.Errorf("a space that is not: %v", err)
	}
}

// What filters from outside let through, the same filters do inside the text.
func TestFiltersMayStandInTheText(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := note("badger one")
	d.Project, d.Tags, d.Actor = "my-app-v2", []string{"go", "cache"}, event.Actor{Harness: "codex", ID: "codex"}
	one := h.save(d).ID
	two := h.note("badger two")
	three := h.act(&event.Pref{Category: "badger", Key: "three", Value: "yes"})
	four := h.save(pref("tabs")).ID
	five := h.save(pref("spaces")).ID
	for text, want := range map[string][]event.ID{
		"badger project:my-app-v2": {one},
		"badger Harness:Codex":     {one},
		"badger kind:note":         {two, one},
		"badger tag:go tag:cache":  {one},
		"badger -tag:go kind:pref": {three},
		"kind:pref":                {five, three},
		"kind:note until:2999":     {two, one},
		"device:" + h.show(string(one)).Device + " kind:note -tag:go":     {two},
		"device:" + h.show(string(one)).Device[:8] + " kind:note -tag:go": {two},
	} {
		h.findsIn(api.Query{Text: text, Limit: 50}, want...)
	}
	hits := h.findsIn(api.Query{Text: "kind:pref", All: true, Limit: 50}, five, four, three)
	if len(hits) == 3 && hits[1].State != api.Superseded {
		t.Errorf("hit %+v", hits[1])
	}
}

func TestNoQuestionIsAnError(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.note(`error: timeout in foo-bar, see https://example.org/a?b=c and C++ (x)`)
	h.finds("timeout", id)
	for _, text := range []string{"", "*", "  "} {
		if a := h.ask(api.Query{Text: text}); len(a.Hits) != 0 || !strings.Contains(a.Note, "log") {
			t.Errorf("%q: %+v", text, a)
		}
	}
	for _, text := range []string{"error: timeout", "https://example.org/a?b=c", "C++ (x)", "foo-bar"} {
		h.finds(text, id)
	}
	for _, text := range []string{`a"b`, "NOT", "(", strings.Repeat("§$%&/(", 2000), "\xff\xfe", "title:", `"`} {
		h.ask(api.Query{Text: text})
	}
}

func TestTheMoreWordsTheBetter(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	three := h.note("the badger digs a tunnel")
	two := h.note("the badger digs all day")
	one := h.note("the badger sleeps all day")
	h.finds("badger digs tunnel", three, two, one)
	h.finds("why badger digs tunnel in Norway", three, two, one)
}

func TestMetadataIsNotSearched(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := note("badgers dig")
	d.Actor, d.Project = event.Actor{ID: "private", Harness: "zebracode"}, "walrus"
	h.save(d)
	for _, word := range []string{"private", "personal", "zebracode", "walrus", "observe", "laptop", "main"} {
		h.finds(word)
	}
}

func TestEveryScriptIsFoundInTheMiddleOfASentence(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for text, words := range map[string][]string{
		"我们决定用Redis做会话缓存":          {"缓存", "会话", "决定", "用", "redis"},
		"Мы решили хранить сессии": {"решили"},
		"हम सत्र कैश करते हैं":     {"सत्र"},
		"The cafe\u0301 is open":   {"café", "cafe"},
	} {
		id := h.note(text)
		for _, w := range words {
			hits := h.settled(api.Query{Text: w, Limit: 50}).Hits
			if len(hits) == 0 || hits[0].ID != id {
				t.Errorf("%q is not found in %q", w, text)
			}
		}
	}
}

func TestTheDigestKeepsItsBudget(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if text, err := h.Digest(t.Context(), 0); err != nil || text != "" {
		t.Errorf("of nothing: %q, %v", text, err)
	}
	var drafts []api.Draft
	for i := range 100 {
		drafts = append(drafts, note(strings.Repeat("漢字 badger ", 20)+fmt.Sprint(i)))
	}
	h.imports(drafts...)
	h.archive(h.note("put away"))
	for _, size := range []int{0, 50, 100, 1000, 4096, 8000, 1 << 20} {
		text, err := h.Digest(t.Context(), size)
		budget := min(size, 8000)
		if size == 0 {
			budget = 4096
		}
		if err != nil || len(text) > budget || !utf8.ValidString(text) || strings.Contains(text, "put away") {
			t.Errorf("%d: %d bytes, %v", size, len(text), err)
		}
		if size == 50 {
			continue // has no room for a pointer
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for _, l := range lines {
			if len(l) > 120 {
				t.Errorf("a line of %d bytes", len(l))
			}
		}
		if last := lines[len(lines)-1]; last != fmt.Sprintf("… and %d more: cairn log", 100-len(lines)+1) {
			t.Errorf("%d lines, the last %q", len(lines), last)
		}
	}
}

func TestLogIsNewestFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var want []event.ID
	for i := range 30 {
		d := note(fmt.Sprint("badger ", i))
		d.Space = []string{"personal", "team"}[i%2]
		want = append([]event.ID{h.save(d).ID}, want...)
	}
	if got := h.log(api.Query{}); !slices.Equal(got, want[:20]) {
		t.Errorf("%v, want %v", got, want[:20])
	}
	a, err := h.Log(t.Context(), api.Query{Limit: 100})
	if err != nil || a.Total != 30 || !slices.Equal(idsOf(a.Hits), want) {
		t.Errorf("total %d, %v", a.Total, err)
	}
	for _, hit := range a.Hits {
		if hit.Recorded.IsZero() || hit.Actor == "" || hit.Device == "" {
			t.Errorf("hit %+v", hit)
		}
	}
}

func TestAnUnknownReferenceIsToldAsSuch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.note("badger")
	h.note("another")
	for ref, code := range map[string]problem.Code{
		"zzzzzz": problem.NotFound, "abc": problem.Usage, string(id[:6]): problem.Usage,
		string(event.NewID(day(1))): problem.NotFound,
	} {
		if _, err := h.Show(t.Context(), ref, false); problem.Of(err).Code != code {
			t.Errorf("%s: %v, want %s", ref, err, code)
		}
	}
	if got, space, err := h.Resolve(t.Context(), id.Short(), ""); err != nil || got != id || space != "personal" {
		t.Errorf("resolved %s in %s, %v", got, space, err)
	}
}
