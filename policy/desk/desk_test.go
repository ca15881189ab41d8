package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/desk"
	"cairn/policy/versions"
)

var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hubID = event.ID("01kk0000000000000000000000")
	hub   = device.FromPrivate(eventtest.Key("hub"))
	ana   = device.FromPrivate(eventtest.Key("ana"))
	bob   = device.FromPrivate(eventtest.Key("bob"))
)

func file(team string) []byte {
	return fmt.Appendf(nil, "version: 1\nteam: %s\nadmins: [ana, bob]\napprovals: 2\n", team)
}

// A fake is a hub that answers as it is told, and notes what it is handed.
type fake struct {
	answer   hubwire.PolicyAnswer
	waits    []byte // the file of what waits
	asked    int
	proposed []byte
	approved *versions.Approval
}

func (f *fake) ask(_ context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
	a := f.answer
	if f.asked++; f.asked > 100 {
		return a, errors.New("asked too often")
	}
	switch r.Verb {
	case hubwire.PolicyShow:
		if v, err := versions.Decode(a.Waiting); err == nil && v.Number == r.Number {
			a.Versions, a.File = [][]byte{a.Waiting}, f.waits
		}
	case hubwire.PolicyPropose:
		f.proposed = r.Version
		a.Versions = [][]byte{r.Version}
	case hubwire.PolicyApprove:
		if err := json.Unmarshal(r.Approval, &f.approved); err != nil {
			return a, err
		}
		a.Versions = [][]byte{a.Waiting}
	}
	return a, nil
}

func (f *fake) desk(key device.Key, person string) desk.Desk {
	return desk.Desk{Ask: f.ask, HostKey: hubwire.Fingerprint(hub.Public()), Person: person, Key: key, Now: func() time.Time { return now }}
}

func version(last *versions.Version, team string) versions.Version {
	p := versions.Propose(hubID, last, file(team), team, []string{"ana", "bob"}, 2)
	p.By, p.At = "ana", event.NewTime(now)
	return versions.Version{Proposal: p, Approved: []versions.Approval{p.Approve("ana", ana)}}
}

// honest is a hub with one version in force and one that waits.
func honest() (*fake, versions.Version, versions.Version) {
	first := version(nil, "one").Sealed(hub)
	next := version(&first, "two")
	return &fake{waits: file("two"), answer: hubwire.PolicyAnswer{
		Hub: hubID, Key: hub.Public(), Newest: hubwire.PolicyMark{Number: first.Number, Hash: first.Hash().String()},
		Versions: [][]byte{versions.Encode(first)}, File: file("one"), Waiting: versions.Encode(next), Missing: 1,
	}}, first, next
}

func TestWhatIsSignedFollowsFromWhatIsInForce(t *testing.T) {
	f, _, next := honest()
	c, err := f.desk(bob, "bob").Approve(t.Context(), 3, next.File.String()[:6])
	if err != nil || f.approved == nil || !f.approved.Verify(next.Proposal) || f.approved.Person != "bob" {
		t.Fatalf("%+v, %v", c, err)
	}
	f, first, _ := honest()
	if _, err := f.desk(bob, "bob").Push(t.Context(), file("three"), true); err != nil {
		t.Fatal(err)
	}
	v, err := versions.Decode(f.proposed)
	if err != nil || v.Number != 3 || v.Previous != first.Hash() || v.File != versions.HashOf(file("three")) || !v.Approved[0].Verify(v.Proposal) {
		t.Errorf("proposed %+v, %v", v, err)
	}
	f, _, next = honest()
	if _, err := f.desk(bob, "bob").Push(t.Context(), file("two"), false); err != nil || f.proposed != nil || !f.approved.Verify(next.Proposal) {
		t.Errorf("the file that waits is proposed again: %v", err)
	}
	f, _, _ = honest()
	if c, err := f.desk(bob, "bob").Push(t.Context(), file("one"), false); err != nil || !c.Already || f.proposed != nil {
		t.Errorf("the file in force is proposed again: %+v, %v", c, err)
	}
}

// approve is bob's approval of what waits, pushSame the same by its file.
func approve(d desk.Desk) error {
	_, err := d.Approve(context.Background(), 3, "")
	return err
}

func pushSame(d desk.Desk) error {
	_, err := d.Push(context.Background(), file("two"), true)
	return err
}

// A hub shows something that does not hold together. Nothing is signed.
func TestNothingIsSignedForALyingHub(t *testing.T) {
	for name, lie := range map[string]func(*hubwire.PolicyAnswer, versions.Version, versions.Version){
		"another key": func(a *hubwire.PolicyAnswer, _, _ versions.Version) { a.Key = ana.Public() },
		"another version in force than it names": func(a *hubwire.PolicyAnswer, first, _ versions.Version) {
			a.Versions = [][]byte{versions.Encode(version(nil, "evil").Sealed(hub))}
		},
		"a proposal after something else": func(a *hubwire.PolicyAnswer, _, _ versions.Version) {
			other := version(nil, "evil").Sealed(hub)
			a.Waiting = versions.Encode(version(&other, "two"))
		},
		"a proposal that cannot be read": func(a *hubwire.PolicyAnswer, _, _ versions.Version) { a.Waiting = []byte("{}") },
		"a proposal of another hub": func(a *hubwire.PolicyAnswer, _, next versions.Version) {
			next.Hub = event.NewID(now)
			a.Waiting = versions.Encode(next)
		},
		"a version in force that it leaves out": func(a *hubwire.PolicyAnswer, _, _ versions.Version) { a.Versions = nil },
		"none in force, and a proposal that follows one": func(a *hubwire.PolicyAnswer, _, _ versions.Version) {
			a.Newest, a.Versions = hubwire.BuiltIn, nil
		},
		"a mark without a hash": func(a *hubwire.PolicyAnswer, _, next versions.Version) {
			a.Newest.Hash, a.Versions = "", nil
			next.Previous = versions.HashOf([]byte("evil"))
			a.Waiting = versions.Encode(next)
		},
		"none in force, and one beside it": func(a *hubwire.PolicyAnswer, _, _ versions.Version) { a.Newest = hubwire.BuiltIn },
		"admins that the file does not name": func(a *hubwire.PolicyAnswer, _, next versions.Version) {
			next.Admins = []string{"ana", "mallory"}
			a.Waiting = versions.Encode(next)
		},
		"fewer approvals than the file asks for": func(a *hubwire.PolicyAnswer, _, next versions.Version) {
			next.Approvals = 1
			a.Waiting = versions.Encode(next)
		},
		"another team than the file's": func(a *hubwire.PolicyAnswer, _, next versions.Version) {
			next.Team = "evil"
			a.Waiting = versions.Encode(next)
		},
	} {
		for way, sign := range map[string]func(desk.Desk) error{"approve": approve, "push": pushSame} {
			f, first, next := honest()
			lie(&f.answer, first, next)
			err := sign(f.desk(bob, "bob"))
			if p := problem.Of(err); f.approved != nil || f.proposed == nil && (p == nil || p.Code != problem.Corrupt) {
				t.Errorf("%s, %s: %v, signed %v", name, way, err, f.approved)
			}
		}
	}
	f, _, _ := honest()
	f.answer.Versions = nil
	if _, err := f.desk(bob, "bob").Push(t.Context(), file("three"), true); problem.Of(err) == nil || problem.Of(err).Code != problem.Corrupt || f.proposed != nil {
		t.Errorf("a first version is signed while another is in force: %v", err)
	}
	f, _, _ = honest()
	if _, err := f.desk(bob, "bob").Approve(t.Context(), 3, "ffff"); problem.Of(err).Code != problem.Usage || f.approved != nil {
		t.Errorf("another file than the one named: %v", err)
	}
	if _, err := f.desk(bob, "bob").Approve(t.Context(), 4, ""); problem.Of(err).Code != problem.NotFound {
		t.Errorf("another number: %v", err)
	}
	if _, err := f.desk(bob, "bob").Show(t.Context(), 7); problem.Of(err).Code != problem.Corrupt {
		t.Errorf("another version is shown than the one asked for: %v", err)
	}
	f.waits = file("evil")
	if err := approve(f.desk(bob, "bob")); problem.Of(err).Code != problem.Corrupt || f.approved != nil {
		t.Errorf("another file than the one that waits: %v", err)
	}
	f.answer.File = file("evil")
	if _, err := f.desk(bob, "bob").Show(t.Context(), 0); problem.Of(err).Code != problem.Corrupt {
		t.Errorf("another file is shown: %v", err)
	}
}

func TestALogIsFollowedFromItsBeginning(t *testing.T) {
	f, _, _ := honest()
	log, err := f.desk(bob, "bob").Log(t.Context())
	if err != nil || len(log.Versions) != 2 || log.Versions[0].State != desk.Waiting || log.Versions[0].Missing != 1 || log.Versions[1].State != desk.Active {
		t.Fatalf("%+v, %v", log, err)
	}
	if text := log.String(); !strings.Contains(text, "waiting, lacks 1") || !strings.Contains(text, "active") {
		t.Errorf("the log says %s", text)
	}
	for name, lie := range map[string]func(*hubwire.PolicyAnswer){
		"the same again and again": func(a *hubwire.PolicyAnswer) { a.Newest.Number = 1000 },
		"less than it names":       func(a *hubwire.PolicyAnswer) { a.Versions = nil },
	} {
		f, _, _ := honest()
		lie(&f.answer)
		if _, err := f.desk(bob, "bob").Log(t.Context()); problem.Of(err) == nil || problem.Of(err).Code != problem.Corrupt {
			t.Errorf("a hub that shows %s: %v", name, err)
		}
	}
	forged := version(nil, "evil").Sealed(ana)
	f.answer.Versions = [][]byte{versions.Encode(forged)}
	if _, err := f.desk(bob, "bob").Log(t.Context()); problem.Of(err).Code != problem.Corrupt {
		t.Errorf("a forged chain is shown: %v", err)
	}
}

// A hub that does not know what strict means is not asked in words that it takes
// for something else.
func TestWhatMustBeStrictIsAskedInItsOwnWords(t *testing.T) {
	f, _, next := honest()
	var verbs []string
	d := f.desk(bob, "bob")
	d.Trying = desk.Trying{Strict: true, Accept: []string{"01abc"}}
	d.Ask = func(ctx context.Context, r hubwire.PolicyRequest) (hubwire.PolicyAnswer, error) {
		verbs = append(verbs, r.Verb)
		if r.Verb == hubwire.PolicyProposeStrictly || r.Verb == hubwire.PolicyApproveStrictly {
			if len(r.Accept) != 1 {
				t.Errorf("%s accepts %q", r.Verb, r.Accept)
			}
			return hubwire.PolicyAnswer{}, problem.New(problem.Usage, "no such question")
		}
		return f.ask(ctx, r)
	}
	if _, err := d.Push(t.Context(), file("three"), true); problem.Of(err).Code != problem.Usage {
		t.Errorf("%v", err)
	}
	if _, err := d.Approve(t.Context(), next.Number, ""); problem.Of(err).Code != problem.Usage {
		t.Errorf("%v", err)
	}
	if f.proposed != nil || f.approved != nil || len(verbs) == 0 {
		t.Errorf("%q", verbs)
	}
}

// What was tried is told with what became of a signature.
func TestATrialIsToldInWords(t *testing.T) {
	id := event.NewID(now)
	f, _, next := honest()
	f.answer.Trial = &hubwire.PolicyTrial{
		Events: 7, NewlyRefused: 3, Untried: []string{"docs"}, Accepted: []event.ID{id},
		Spaces:         []hubwire.PolicyTried{{Space: "team", NewlyRefused: 3, Refused: []hubwire.PolicyBreak{{ID: id, Rule: "kind", Field: "kind"}, {ID: id, Rule: "acme", Field: "tags[0]"}}}},
		Rights:         []hubwire.PolicyChange{{Person: "cy", Space: "team", Loses: []string{"write"}}},
		MatchedNothing: []hubwire.PolicyIdle{{What: "pattern acme", Line: 4}},
	}
	c, err := f.desk(bob, "bob").Approve(t.Context(), next.Number, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Tried on 7 events at the hub: newly refused 3, newly allowed 0.\n", "Not everything could be tried", "Not read to the end: docs\n",
		"newly refused in team: 3\n  " + string(id) + "  kind in kind\n", "  and 2 more\n", "rights: cy loses write in team\n",
		"line 4 does nothing to what is there: pattern acme\n", "  cairn redact " + string(id) + " ",
	} {
		if !strings.Contains(c.String(), want) {
			t.Errorf("%q is not in\n%s", want, c)
		}
	}
}
