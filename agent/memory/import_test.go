package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

func historic(text string, observed ...time.Time) api.Draft {
	d := note(text)
	d.Historic = true
	if len(observed) > 0 {
		at := event.NewTime(observed[0])
		d.Observed = &at
	}
	return d
}

func (h *home) imports(drafts ...api.Draft) []api.ImportResult {
	h.t.Helper()
	results, err := h.Import(h.t.Context(), drafts)
	if err != nil {
		h.t.Fatal(err)
	}
	for i, r := range results {
		if r.Problem != nil {
			h.t.Fatalf("item %d: %v", i, r.Problem)
		}
	}
	return results
}

func TestHistoricNotesHaveTheirOwnTime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	future := time.Now().Add(time.Hour)
	rs := h.imports(historic("in January", day(3)), historic("same day", day(3)), historic("from the future", future))
	for i, want := range []time.Time{day(3), day(3)} {
		if got := rs[i].Receipt.ID.Time(); !got.Equal(want) {
			t.Errorf("item %d is of %s", i, got)
		}
	}
	if rs[0].Receipt.ID >= rs[1].Receipt.ID {
		t.Error("two notes of one moment have lost their order")
	}
	if got := rs[2].Receipt.ID.Time(); got.After(time.Now()) {
		t.Errorf("a note is of %s", got)
	}
	hit := h.show(string(rs[0].Receipt.ID)).Hit
	if !hit.Observed.Equal(day(3)) || !hit.Recorded.Equal(day(3)) {
		t.Errorf("hit %+v", hit)
	}
	if e := h.show(string(rs[0].Receipt.ID)); e.Signature != "good" {
		t.Errorf("signature %s", e.Signature)
	}
}

// Items of one moment keep their order also when others stand between them, when they do not go into one append, and
// when they come with another import.
func TestItemsOfOneMomentKeepTheirOrderInAnyNumberOfAppends(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := func(d api.Draft, when time.Time) api.Draft {
		observed := event.NewTime(when)
		d.Historic, d.Observed = true, &observed
		return d
	}
	last := event.ID("")
	for n := range 3 {
		var drafts []api.Draft
		for i := range 6 { // what is set again has to see what was set before, and so waits for the next append
			drafts = append(drafts, at(pref(fmt.Sprint("value ", n, i)), day(3)), historic(fmt.Sprint("another day ", n, i), day(4)))
		}
		for i, r := range h.imports(drafts...) {
			if i%2 > 0 {
				continue
			}
			if r.Receipt.ID <= last || !r.Receipt.ID.Time().Equal(day(3)) {
				t.Errorf("import %d, item %d: %s of %s does not follow %s", n, i, r.Receipt.ID, r.Receipt.ID.Time(), last)
			}
			last = r.Receipt.ID
		}
	}
}

func TestUndatedNotesAreSpreadBackwardsInOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t, anythingGoes)
	var drafts []api.Draft
	for i := range 450 {
		drafts = append(drafts, historic(fmt.Sprintf("badger %d", i)))
	}
	rs := h.imports(drafts...)
	perHour := map[time.Time]int{}
	last := event.ID("")
	for i, r := range rs {
		if r.Receipt.ID <= last {
			t.Fatalf("item %d comes before the one in front of it", i)
		}
		last = r.Receipt.ID
		perHour[last.Time().Truncate(time.Hour)]++
	}
	for hour, n := range perHour {
		if n > 400 {
			t.Errorf("%d of them in the hour of %s", n, hour)
		}
	}
	h.imports(historic("one more"))
	if got := h.log(api.Query{Limit: 1}); got[0].Time().After(time.Now()) {
		t.Errorf("a note of %s", got[0].Time())
	}
}

func TestASecondImportAddsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	set := func(v string) api.Draft { d := pref(v); d.Historic = true; return d }
	items := []api.Draft{
		historic("badgers dig", day(1)), historic("badgers sleep"), historic("badgers dig", day(1)),
		set("tabs"), set("spaces"), set("tabs"),
	}
	first := h.imports(items...)
	if n := h.events("personal"); n != 5 {
		t.Errorf("%d events, want the two notes and three settings", n)
	}
	h.finds("indent", first[5].Receipt.ID)
	archived := first[0].Receipt.ID
	h.archive(archived)
	redacted := first[1].Receipt.ID
	h.redact(redacted)
	before := h.events("personal")
	for i, r := range h.imports(items...) {
		if !r.Receipt.Duplicate || r.Receipt.ID != first[i].Receipt.ID {
			t.Errorf("item %d: %+v", i, r.Receipt)
		}
	}
	if n := h.events("personal"); n != before {
		t.Errorf("%d events after the second import, %d before", n, before)
	}
	h.finds("badgers")
}

func TestWholeEventsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	a, b := newHome(t), newHome(t)
	id, hidden := a.note("badgers dig"), a.note("badgers bite")
	old := a.exported("personal")
	a.redact(hidden)
	wholes := func(list [][]byte) (out []api.Draft) {
		for _, raw := range list {
			out = append(out, api.Draft{Stored: raw})
		}
		return out
	}
	b.imports(wholes(a.exported("personal"))...)
	b.finds("badgers", id)
	b.imports(wholes(old)...) // brings what was redacted since
	b.finds("badgers", id)
	if got := b.show(string(id)); !slices.Equal(got.Raw, old[0]) || got.Signature != "good" {
		t.Errorf("%q is now %q", old[0], got.Raw)
	}
	if got := b.show(string(hidden)); got.State != api.Redacted || got.Raw != nil || got.Hit.Text != "" {
		t.Errorf("shown %+v", got)
	}
	for _, r := range b.imports(wholes(old)...) {
		if !r.Receipt.Duplicate {
			t.Errorf("again: %+v", r.Receipt)
		}
	}
	for name, bad := range map[string][]byte{
		"changed":   []byte(string(old[0][:len(old[0])-3]) + "x\n}\n"),
		"no event":  []byte("{}"),
		"forgotten": old[0][:10],
	} {
		results, err := b.Import(t.Context(), []api.Draft{{Stored: bad}})
		if err != nil || results[0].Problem == nil {
			t.Errorf("%s: %+v, %v", name, results, err)
		}
	}
}

func TestAForgedEventIsNotTakenIn(t *testing.T) {
	t.Parallel()
	a, b := newHome(t), newHome(t)
	a.note("pay 100")
	raw := []byte(strings.ReplaceAll(string(a.exported("personal")[0]), "pay 100", "pay 900"))
	results, err := b.Import(t.Context(), []api.Draft{{Stored: raw}})
	if err != nil || results[0].Problem == nil || results[0].Problem.Code != problem.Policy {
		t.Errorf("%+v, %v", results, err)
	}
}
