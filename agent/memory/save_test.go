package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

func TestASavedNoteIsFoundByTheNextProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.save(note("We chose Postgres for billing"))
	if r.Duplicate || r.Space != "personal" || r.Kind != event.KindObserve || len(r.Commit) != 40 {
		t.Errorf("receipt %+v", r)
	}
	if r.State != api.Indexed {
		t.Errorf("state %s", r.State)
	}
	h.finds("which database did we choose for the billing service and why", r.ID)
	h.restart()
	hits := h.finds("postgres", r.ID)
	hit := hits[0]
	if hit.Title != "We chose Postgres for billing" || hit.Text != hit.Title || hit.State != api.Live || hit.Actor != "human" {
		t.Errorf("hit %+v", hit)
	}
	shown := h.show(r.ID.Short())
	if shown.Signature != "good" || shown.Commit != r.Commit || shown.Device == "" {
		t.Errorf("shown %+v", shown)
	}
	if e, err := event.Decode(shown.Raw); err != nil || e.Classification != event.Private || e.Authority.Source != "user" {
		t.Errorf("stored %+v, %v", e, err)
	}
}

func TestLongTextsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for word, size := range map[string]int{"kestrel": 1, "osprey": 81, "merlin": 2_001, "harrier": 5_000, "buzzard": 50_001, "goshawk": 900_000} {
		text := strings.ToValidUTF8(strings.Repeat("päragraph of words\r\n\n", size/20+1)[:size], "x") + " " + word
		id := h.note(text)
		if got := h.show(string(id)).Hit.Text; got != text {
			t.Errorf("%d bytes came back as %d", len(text), len(got))
		}
		h.finds(word, id)
	}
	p := h.refuses(note(strings.Repeat("x", event.MaxText+1)), problem.TooBig)
	if p.Field == "" {
		t.Errorf("problem %+v", p)
	}
	h.refuses(note("caf\xe9"), problem.NotUTF8)
}

func TestATitleIsTheFirstLineCutAtAWord(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	long := strings.Repeat("wordy ", 40)
	for text, want := range map[string]string{
		"one line":                       "one line",
		"\n\n  second\tline \nx":         "second line",
		long:                             strings.TrimSpace(strings.Repeat("wordy ", 20)),
		strings.Repeat("漢", 300):         strings.Repeat("漢", 120),
		strings.Repeat("x", 119) + " yz": strings.Repeat("x", 119),
		strings.Repeat("x", 120) + " yz": strings.Repeat("x", 120),
		" \n\t\n":                        "(untitled)",
	} {
		hit := h.show(string(h.note(text))).Hit
		if hit.Title != want || hit.Text != text {
			t.Errorf("%.40q has the title %q, want %q", text, hit.Title, want)
		}
	}
	given := h.save(api.Draft{Payload: &event.Observe{Summary: " given\ntitle", Content: "other"}})
	if hit := h.show(string(given.ID)).Hit; hit.Title != "given title" || hit.Text != "other" {
		t.Errorf("hit %+v", hit)
	}
}

func TestEveryLineOfAListIsUTF8(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.note(strings.Repeat("😀", 300))
	hit := h.show(string(id)).Hit
	digest, err := h.Digest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(strings.Split(digest, "\n"), hit.Title, hit.Snippet) {
		if !utf8.ValidString(line) {
			t.Errorf("%q is not UTF-8", line)
		}
	}
}

func TestTheSameTextSavedThreeTimesIsOneNote(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.save(note("badgers dig"))
	for range 2 {
		again := h.save(note("badgers dig"))
		if !again.Duplicate || again.ID != first.ID || again.Commit != first.Commit {
			t.Errorf("again %+v, first %+v", again, first)
		}
	}
	h.finds("badgers", first.ID)
	if n := h.events("personal"); n != 1 {
		t.Errorf("%d events", n)
	}
	other := note("badgers dig")
	other.Project = "zoo"
	if r := h.save(other); r.Duplicate {
		t.Error("the same text in another project is no other note")
	}
}

func TestAKeyBelongsToOneContent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	keyed := func(text string) api.Draft { d := note(text); d.Key = "k"; return d }
	first := h.save(keyed("one"))
	if r := h.save(keyed("one")); !r.Duplicate || r.ID != first.ID {
		t.Errorf("again %+v", r)
	}
	p := h.refuses(keyed("two"), problem.KeyConflict)
	if p.Field != "key" || strings.Contains(p.Message, "one") {
		t.Errorf("problem %+v", p)
	}
	h.redact(first.ID)
	second := h.save(keyed("two"))
	h.archive(second.ID)
	third := h.save(keyed("three"))
	next := note("four")
	next.Payload.(*event.Observe).Supersedes = third.ID
	h.save(next)
	if r := h.save(keyed("five")); r.Duplicate {
		t.Error("the key of a superseded event is not free")
	}
	if refused, err := h.Refused(t.Context()); err != nil || len(refused) != 0 {
		t.Errorf("a key conflict is on the list of refused notes: %v, %v", refused, err)
	}
}

func TestANoteCanBeSavedAgainAfterItsRedaction(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.note("badgers dig")
	h.redact(first)
	h.finds("badgers")
	second := h.note("badgers dig")
	h.finds("badgers", second)
}

func TestAPreferenceGoesBackAndForth(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	a, b := h.save(pref("tabs")), h.save(pref("spaces"))
	if r := h.save(pref("spaces")); !r.Duplicate || r.ID != b.ID {
		t.Errorf("the value in force again: %+v", r)
	}
	c := h.save(pref("tabs"))
	if c.Duplicate || c.ID == a.ID {
		t.Errorf("back to the first value: %+v", c)
	}
	h.finds("style indent", c.ID)
	h.redact(c.ID)
	h.finds("style indent", b.ID)
	if got := idsOf(h.show(string(b.ID)).History); len(got) < 3 || got[0] != a.ID || got[1] != b.ID {
		t.Errorf("history %v", got)
	}
}

func TestRedactingAPreferenceLeavesNoCopyOfIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.save(pref("wasabi"))
	second := h.save(pref("ginger"))
	h.redact(first.ID)
	if raw := h.show(string(second.ID)).Raw; strings.Contains(string(raw), "wasabi") {
		t.Error("the next preference holds the value of the redacted one")
	}
}

func TestAnActIsDoneOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.note("badgers dig")
	archive := api.Draft{Payload: &event.Archive{Target: id, Direction: event.DirectionArchive}}
	if a, b := h.save(archive), h.save(archive); !b.Duplicate || b.ID != a.ID {
		t.Errorf("archived twice: %+v, %+v", a, b)
	}
	restore := api.Draft{Payload: &event.Archive{Target: id, Direction: event.DirectionRestore}}
	if r := h.save(restore); r.Duplicate {
		t.Errorf("restored: %+v", r)
	}
	h.finds("badgers", id)
	if r := h.save(archive); r.Duplicate {
		t.Errorf("archived again: %+v", r)
	}
	h.finds("badgers")
}

func TestShortIDsWillDo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	d := note("badgers of the team")
	d.Space = "team"
	ours := h.save(d).ID
	h.act(&event.Verify{Target: event.ID(ours.Short()), Verdict: event.Confirmed})
	if hit := h.show(string(ours[20:])).Hit; hit.Verdict != "confirmed" || hit.Space != "team" {
		t.Errorf("hit %+v", hit)
	}
	next := api.Draft{Payload: &event.Observe{Content: "badgers of everybody", Supersedes: event.ID(ours.Short())}}
	r := h.save(next)
	if r.Space != "team" {
		t.Errorf("saved into %s, not where the superseded note is", r.Space)
	}
	h.finds("badgers", r.ID)
	h.refuses(api.Draft{Payload: &event.Redact{Target: "zzzzzz", Reason: "x"}}, problem.NotFound)
	h.refuses(api.Draft{Payload: &event.Redact{Target: "abc", Reason: "x"}}, problem.Usage)
	wrong := api.Draft{Space: "personal", Payload: &event.Observe{Content: "x", Supersedes: r.ID}}
	h.refuses(wrong, problem.Usage)
}

func TestWrongUseIsToldWithItsField(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	from, to := event.Time{Time: day(2)}, event.Time{Time: day(1)}
	for field, d := range map[string]api.Draft{
		"payload.valid_to": {Payload: &event.Claim{Key: "k", Content: "c", ValidFrom: &from, ValidTo: &to}},
		"payload.key":      {Payload: &event.Pref{Category: "c", Value: "v"}},
		"tags[0]":          {Payload: &event.Observe{Content: "x"}, Tags: []string{"two\nlines"}},
		"classification":   {Payload: &event.Observe{Content: "x"}, Classification: "top"},
	} {
		if p := h.refuses(d, problem.Usage); p.Field != field {
			t.Errorf("field %q, want %q", p.Field, field)
		}
	}
	h.refuses(api.Draft{}, problem.Usage)
	h.refuses(api.Draft{Space: "nowhere", Payload: &event.Observe{Content: "x"}}, problem.NotFound)
}

func TestTwentySavesWithOneKeyAtOnceAreOneNote(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	receipts := make([]api.Receipt, 20)
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() { receipts[i] = h.save(note("badgers dig")) })
	}
	wg.Wait()
	fresh := 0
	for _, r := range receipts {
		if !r.Duplicate {
			fresh++
		}
		if r.ID != receipts[0].ID || r.Commit != receipts[0].Commit {
			t.Errorf("receipts %+v and %+v", r, receipts[0])
		}
	}
	if fresh != 1 || h.events("personal") != 1 {
		t.Errorf("%d were fresh, %d events", fresh, h.events("personal"))
	}
}

func TestManyWritersAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, anythingGoes)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids := map[event.ID]bool{}
	for w := range 10 {
		wg.Go(func() {
			for i := range 10 {
				r := h.save(note(fmt.Sprintf("badger %d of writer %d", i, w)))
				mu.Lock()
				ids[r.ID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(ids) != 100 || h.events("personal") != 100 {
		t.Errorf("%d ids, %d events", len(ids), h.events("personal"))
	}
	h.restart()
	if a := h.settled(api.Query{Text: "badger", Limit: 300}); len(a.Hits) != 100 {
		t.Errorf("%d found", len(a.Hits))
	}
}

func TestASaveWhoseCallerGaveUpIsNotSavedTwice(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ctx, cancel := contextWithCancel(t)
	cancel()
	_, err := h.Remember(ctx, note("badgers dig"))
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Busy {
		t.Errorf("got %v", err)
	}
	h.save(note("badgers dig"))
	if n := h.events("personal"); n != 1 {
		t.Errorf("%d events", n)
	}
}
