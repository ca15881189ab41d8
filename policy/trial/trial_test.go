package trial_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
	"cairn/policy/trial"
)

var (
	key = []byte("the key of a team, 32 bytes long")
	now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func file(t *testing.T, text string, key []byte) *rules.Rules {
	t.Helper()
	f, err := rules.Parse([]byte("version: 1\nteam: acme\nadmins: [ana]\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return f.Rules(rules.Options{Key: key, Now: func() time.Time { return now }})
}

func note(text string, age time.Duration) event.Event {
	e := eventtest.Note(text)
	e.ID = event.NewID(now.Add(-age))
	e.Space, e.Classification = "docs", event.Public
	return eventtest.Signed(e, "laptop")
}

func try(t *testing.T, text string, events ...event.Event) trial.Result {
	t.Helper()
	tr := trial.New(policy.Default(), file(t, text, key), now)
	for _, e := range events {
		if err := tr.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return tr.Result()
}

func TestWhatAPolicyWouldChange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	demo, ticket := secretstest.Generate("stripe-test", r), secretstest.Generate("sendgrid", r)
	acme := "adk_" + strings.Repeat("a1b2c3d4e5", 3)
	text := `limits: {event: 2KiB}
kinds: [observe]
signatures: warn
retention: [{keep: 90d}]
secrets:
  patterns:
    - {id: acme-key, match: 'adk_[0-9a-z]{30}', like: 'adk_[0-9a-z]{30}'}
    - {id: idle-key, match: 'idle_[0-9a-z]{30}', like: 'idle_[0-9a-z]{30}'}
  allow:
    - {rule: stripe-test, fingerprint: ` + secrets.Fingerprint(key, []byte(demo)) + `, reason: a demo, by: ana, until: 2027-06-30}
    - {rule: stripe-test, fingerprint: 9c41d07be2a85f36, reason: a demo, by: ana, until: 2027-06-30}
  off:
    - {rule: jwt, reason: none are used, by: ana, until: 2027-06-30}
`
	plain, withKey, allowed, refused := note("hello", 0), note("it is "+acme, 0), note("it is "+demo, 0), note("it is "+ticket, 0)
	large, old, soon := note(strings.Repeat("word ", 600), 0), note("hello", 100*24*time.Hour), note("hello", 70*24*time.Hour)
	claim := eventtest.Of(&event.Claim{SchemaType: "fact", Key: "k", Content: "x"})
	claim.Space, claim.Classification = "docs", event.Public
	unsigned := note("hello", 0)
	unsigned.Sig = nil
	got := try(t, text, plain, withKey, allowed, refused, large, old, soon, claim, unsigned)
	want := trial.Result{
		Events:       9,
		NewlyRefused: []trial.Break{{ID: withKey.ID, Rule: "acme-key", Field: "payload.content"}, {ID: large.ID, Rule: "event-size", Field: "event"}, {ID: claim.ID, Rule: "kind", Field: "kind"}},
		NewlyAllowed: []trial.Break{{ID: allowed.ID, Rule: "stripe-test", Field: "payload.content"}},
		Reported:     []trial.Break{{ID: claim.ID, Rule: "signature", Field: "sig"}, {ID: unsigned.ID, Rule: "signature", Field: "sig"}},
		OverLimit:    []event.ID{large.ID},
		Unsigned:     []event.ID{claim.ID, unsigned.ID},
		Expiring: []trial.Ending{{ID: old.ID, At: event.NewTime(old.ID.Time().AddDate(0, 0, 90))},
			{ID: soon.ID, At: event.NewTime(soon.ID.Time().AddDate(0, 0, 90))}},
		MatchedNothing: []trial.Idle{{What: "pattern idle-key", Line: 11}, {What: "allow stripe-test", Line: 14}, {What: "off jwt", Line: 16}},
	}
	a, b := encoded(t, got), encoded(t, want)
	if a != b {
		t.Errorf("%s\nwant:\n%s", a, b)
	}
	if want := (trial.Counts{NewlyRefused: 3, NewlyAllowed: 1, Reported: 2, OverLimit: 1, Unsigned: 2, Expiring: 2}); got.Counts != want {
		t.Errorf("%+v, want %+v", got.Counts, want)
	}
	for _, secret := range []string{demo, ticket, acme} {
		if strings.Contains(a, secret[4:]) {
			t.Error("a secret is in the result")
		}
	}
}

func encoded(t *testing.T, r trial.Result) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Without the key nothing can be said of exceptions for values.
func TestWithoutTheKeyNoExceptionIsTried(t *testing.T) {
	const allow = "secrets: {allow: [{rule: stripe-test, fingerprint: 9c41d07be2a85f36, reason: a demo, by: ana, until: 2027-06-30}]}\n"
	for _, c := range []struct {
		key  []byte
		idle int
	}{{nil, 0}, {key, 1}} {
		tr := trial.New(policy.Default(), file(t, allow, c.key), now)
		if idle := tr.Result().MatchedNothing; len(idle) != c.idle {
			t.Errorf("key %v: %+v", c.key, idle)
		}
	}
}

// Nothing is newly refused that the file does not speak of.
func TestAnEmptyFileChangesNothing(t *testing.T) {
	r := try(t, "", note("hello", 0), note("it is "+secretstest.Generate("github-pat", rand.New(rand.NewPCG(2, 2))), 0))
	if r.Events != 2 || len(r.NewlyRefused)+len(r.NewlyAllowed)+len(r.Expiring)+len(r.MatchedNothing) > 0 {
		t.Errorf("%s", encoded(t, r))
	}
}

func TestWhatIsNoEventIsNoResult(t *testing.T) {
	tr := trial.New(policy.Default(), file(t, "", nil), now)
	e := note("x", 0)
	e.Kind = "poem"
	if err := tr.Add(e); err == nil || tr.Result().Events != 0 {
		t.Errorf("%v, %+v", err, tr.Result())
	}
}

func TestThePeopleWhoGainAndLoseRights(t *testing.T) {
	before := file(t, "groups: {ops: [ana, bob]}\nspaces: {docs: {read: ['*'], write: [group:ops]}, old: {read: [ana], write: [ana]}}\n", nil)
	after := file(t, "groups: {ops: [ana, carol]}\nspaces: {docs: {read: ['*'], write: [group:ops]}, new: {read: [carol], write: [dave]}}\n", nil)
	var got []string
	for _, c := range trial.Rights(before, after) {
		got = append(got, c.String())
	}
	want := []string{
		"bob loses write, redact in docs", "carol gains write, redact in docs", "carol gains read in new",
		"dave gains read, write, redact in new", "ana loses read, write, admin, redact in old",
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%q\nwant %q", got, want)
	}
	loses := trial.Rights(nil, before, "zoe")
	if at := slices.IndexFunc(loses, func(c trial.Change) bool { return c.Person == "zoe" && c.Space == "docs" }); at < 0 || loses[at].String() != "zoe loses write, admin, redact in docs" {
		t.Errorf("by the first file: %+v", loses)
	}
	if same := trial.Rights(after, after); same == nil || len(same) > 0 {
		t.Errorf("%#v", same)
	}
}

// A pattern whose finds are all excused is at work, and is not called idle.
func TestAPatternThatIsExcusedIsNotIdle(t *testing.T) {
	badge := "BDG-" + "48151623"
	pattern := "secrets:\n  patterns: [{id: acme-badge, match: 'BDG-[0-9]{8}', like: 'BDG-[0-9]{8}'}]\n"
	allow := "  allow: [{rule: acme-badge, fingerprint: " + secrets.Fingerprint(key, []byte(badge)) + ", reason: printed on the door, by: ana, until: 2027-06-30}]\n"
	got := try(t, pattern+allow, note("the badge is "+badge, 0))
	if len(got.NewlyRefused) > 0 || len(got.MatchedNothing) > 0 {
		t.Errorf("excused: %+v", got)
	}
	if got := try(t, pattern+allow, note("hello", 0)); len(got.MatchedNothing) != 2 {
		t.Errorf("nothing to excuse: %+v", got)
	}
}

// A program that reads the answer finds a list under each key, also an empty one.
func TestAnEmptyResultHasNoNull(t *testing.T) {
	b, err := json.Marshal(try(t, ""))
	if err != nil || strings.Contains(string(b), "null") {
		t.Errorf("%s, %v", b, err)
	}
}

// How a file is laid out says nothing: of each entry it is known whether it has
// done anything, also where several stand on one line.
func TestEntriesOnOneLineAreToldApart(t *testing.T) {
	demo := secretstest.Generate("stripe-test", rand.New(rand.NewPCG(3, 3)))
	mark := secretstest.Generate("jwt", rand.New(rand.NewPCG(4, 4)))
	const end = ", reason: a demo, by: ana, until: 2027-06-30}"
	parts := []string{
		"secrets: {patterns: [", "{id: acme-key, match: 'adk_[0-9a-z]{30}', like: 'adk_[0-9a-z]{30}'}", "], allow: [",
		"{rule: stripe-test, fingerprint: " + secrets.Fingerprint(key, []byte(demo)) + end + ",", "{rule: stripe-test, fingerprint: 9c41d07be2a85f36" + end + ",",
		"{rule: acme-key, fingerprint: 9c41d07be2a85f36" + end, "], off: [", "{rule: jwt" + end + ",", "{rule: npm-token" + end, "]}",
	}
	idle := func(between string) (what []string) {
		for _, i := range try(t, strings.Join(parts, between)+"\n", note("it is "+demo, 0), note("it is "+mark, 0)).MatchedNothing {
			what = append(what, i.What)
		}
		return what
	}
	want := []string{"pattern acme-key", "allow stripe-test", "allow acme-key", "off npm-token"}
	for _, between := range []string{"\n  ", " "} {
		if got := idle(between); !slices.Equal(got, want) {
			t.Errorf("parted by %q: %q, want %q", between, got, want)
		}
	}
}

// A trial of everything that a hub has stays small, and counts all the same.
func TestABoundedTrialListsTheFirstAndCountsAll(t *testing.T) {
	tr := trial.New(policy.Default(), file(t, "kinds: [claim]\nsignatures: warn\n", nil), now).Bounded(2)
	var first []event.ID
	for i := range 50 {
		e := note("hello", time.Duration(i)*time.Hour)
		if first = append(first, e.ID); i%2 == 0 {
			e.Sig = nil
		}
		if err := tr.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	r := tr.Result()
	if len(r.NewlyRefused) != 2 || r.NewlyRefused[0].ID != first[0] || r.NewlyRefused[1].ID != first[1] || len(r.Unsigned) != 2 || len(r.Reported) != 2 {
		t.Errorf("%+v", r)
	}
	if r.Events != 50 || r.Counts != (trial.Counts{NewlyRefused: 50, Reported: 25, Unsigned: 25}) {
		t.Errorf("%d, %+v", r.Events, r.Counts)
	}
}

// What is listed of each event is listed whole: one that breaks many rules takes no other's place.
func TestABoundedTrialListsEventsAndNotBreaks(t *testing.T) {
	tr := trial.New(policy.Default(), file(t, "kinds: [claim]\nlimits: {event: 1KiB}\n", nil), now).Bounded(2)
	for i := range 3 {
		if err := tr.Add(note(strings.Repeat("many words ", 200), time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	listed := map[event.ID]int{}
	for _, b := range tr.Result().NewlyRefused {
		listed[b.ID]++
	}
	if len(listed) != 2 {
		t.Fatalf("%d events are listed", len(listed))
	}
	for id, n := range listed {
		if n < 2 {
			t.Errorf("of %s %d breaks are listed", id, n)
		}
	}
}

const tickets = "secrets: {patterns: [{id: ticket, match: 'TCK-[0-9]{8}', like: 'TCK-[0-9]{8}'%s}]}\n"

// A rule that finds something twice in one field breaks it once, on trial as well.
func TestABreakIsListedOnce(t *testing.T) {
	twice := note("see TCK-"+"48151623"+" and TCK-"+"42108421", 0)
	twice.Tags = []string{"tck-none", "TCK-" + "48151623"}
	for stage, list := range map[string]func(trial.Result) []trial.Break{
		"":                                   func(r trial.Result) []trial.Break { return r.NewlyRefused },
		", stage: report, until: 2027-06-30": func(r trial.Result) []trial.Break { return r.Reported },
	} {
		want := []trial.Break{{ID: twice.ID, Rule: "ticket", Field: "payload.content"}, {ID: twice.ID, Rule: "ticket", Field: "tags[1]"}}
		got := list(try(t, fmt.Sprintf(tickets, stage), eventtest.Signed(twice, "laptop")))
		for _, b := range want {
			if n := count(got, b); n != 1 {
				t.Errorf("stage %q: %d of %+v in %+v", stage, n, b, got)
			}
		}
		for _, b := range got {
			if n := count(got, b); n != 1 {
				t.Errorf("stage %q: %d of %+v", stage, n, b)
			}
		}
	}
}

func count(list []trial.Break, b trial.Break) (n int) {
	for _, is := range list {
		if is == b {
			n++
		}
	}
	return n
}

// Of an event that breaks more than is listed the first breaks are, and it counts as one; the next is listed all the
// same. A trial without bounds lists all.
func TestOfAnEventWithManyBreaksTheFirstAreListed(t *testing.T) {
	const tags, most = 40, 32
	for stage, seen := range map[string]func(trial.Result) ([]trial.Break, int){
		"":                                   func(r trial.Result) ([]trial.Break, int) { return r.NewlyRefused, r.Counts.NewlyRefused },
		", stage: report, until: 2027-06-30": func(r trial.Result) ([]trial.Break, int) { return r.Reported, r.Counts.Reported },
	} {
		var events []event.Event
		for i := range 3 {
			e := note("hello", time.Duration(i)*time.Hour)
			for n := range tags {
				e.Tags = append(e.Tags, fmt.Sprintf("TCK-%08d", n))
			}
			events = append(events, eventtest.Signed(e, "laptop"))
		}
		for bound, want := range map[int]int{0: 3 * tags, 2: 2 * most} {
			tr := trial.New(policy.Default(), file(t, fmt.Sprintf(tickets, stage), nil), now).Bounded(bound)
			for _, e := range events {
				if err := tr.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			list, n := seen(tr.Result())
			if len(list) != want || n != len(events) {
				t.Errorf("stage %q, bound %d: %d breaks are listed, want %d; %d events are counted", stage, bound, len(list), want, n)
			}
			for i, b := range list[:min(len(list), most)] {
				if b != (trial.Break{ID: events[0].ID, Rule: "ticket", Field: fmt.Sprintf("tags[%d]", i)}) {
					t.Errorf("stage %q, bound %d: break %d is %+v", stage, bound, i, b)
				}
			}
		}
	}
}

// What one space has no use for another may need.
func TestTrialsBesideEachOtherShareWhatIsIdle(t *testing.T) {
	patterns := "secrets: {patterns: [{id: acme-key, match: 'adk_[0-9a-z]{30}', like: 'adk_[0-9a-z]{30}'}, {id: idle-key, match: 'idle_[0-9a-z]{30}', like: 'idle_[0-9a-z]{30}'}]}\n"
	docs := trial.New(policy.Default(), file(t, patterns, nil), now)
	team := docs.Beside()
	if err := docs.Add(note("it is adk_"+strings.Repeat("a1b2c3d4e5", 3), 0)); err != nil {
		t.Fatal(err)
	}
	for name, tr := range map[string]*trial.Trial{"docs": docs, "team": team} {
		if idle := tr.Result().MatchedNothing; len(idle) != 1 || idle[0].What != "pattern idle-key" {
			t.Errorf("%s: %+v", name, idle)
		}
	}
	if r := team.Result(); r.Events != 0 || len(r.NewlyRefused) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestAStoredEventOfANewerCairnIsCountedAndNotTried(t *testing.T) {
	tr := trial.New(policy.Default(), file(t, "", nil), now)
	stored, err := event.Encode(note("hello", 0))
	if err != nil {
		t.Fatal(err)
	}
	newer := []byte(strings.Replace(string(stored), `"schema": 1`, `"schema": 9`, 1))
	for _, b := range [][]byte{stored, newer} {
		if err := tr.AddStored(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.AddStored([]byte("{}")); err == nil {
		t.Error("what is no event is tried")
	}
	if r := tr.Result(); r.Events != 1 || r.Newer != 1 {
		t.Errorf("%+v", r)
	}
}
