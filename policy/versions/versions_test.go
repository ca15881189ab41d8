package versions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/versions"
)

var (
	at     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hubID  = event.ID("01kk0000000000000000000000")
	hub    = key("hub")
	anchor = versions.Anchor{Hub: hubID, Key: hub.Public()}
)

func key(name string) device.Key { return device.FromPrivate(eventtest.Key(name)) }

func proposal(last *versions.Version, text string, approvals int, admins ...string) versions.Proposal {
	p := versions.Propose(hubID, last, []byte(text), "acme", admins, approvals)
	p.By, p.At = "ana", event.NewTime(at)
	return p
}

// signed is the proposal with an approval of each person's device, sealed. A
// signer is "ana" or "ana on phone"; "hub" is the operator.
func signed(p versions.Proposal, signers ...string) versions.Version {
	v := versions.Version{Proposal: p}
	for _, s := range signers {
		person, _, _ := strings.Cut(s, " on ")
		if s == "hub" {
			person = versions.Operator
		}
		v.Approved = append(v.Approved, p.Approve(person, key(s)))
	}
	return v.Sealed(hub)
}

// chain is three versions: ana alone, then ana and bob, of whom both must sign.
func chain() []versions.Version {
	first := signed(proposal(nil, "one", 1, "ana"), "hub")
	second := signed(proposal(&first, "two", 2, "ana", "bob"), "ana")
	third := signed(proposal(&second, "three", 1, "ana", "bob", "cy"), "ana", "bob")
	return []versions.Version{first, second, third}
}

func TestAChainIsFollowedFromItsFirstVersion(t *testing.T) {
	all := chain()
	if err := anchor.Follow(nil, all); err != nil {
		t.Fatal(err)
	}
	if err := anchor.Follow(&all[0], all[1:]); err != nil {
		t.Errorf("from the pinned first version: %v", err)
	}
	if all[0].Number != versions.First || all[2].Number != versions.First+2 {
		t.Errorf("numbers %d to %d", all[0].Number, all[2].Number)
	}
	operator := signed(proposal(&all[1], "three", 1, "ana"), "hub", "bob")
	if err := anchor.Check(&all[1], operator); err != nil {
		t.Errorf("the operator counts as one: %v", err)
	}
	byAdmin := signed(proposal(nil, "one", 1, "ana"), "ana")
	if err := anchor.Check(nil, byAdmin); err != nil {
		t.Errorf("a first version by an admin of the hub: %v", err)
	}
}

// resealed is v changed and sealed anew: what whoever has the hub's disk and
// its key, but no admin's, could make.
func resealed(v versions.Version, change func(*versions.Version)) versions.Version {
	v.Approved = slices.Clone(v.Approved)
	change(&v)
	return v.Sealed(hub)
}

func TestWhatDoesNotFollowIsNotTaken(t *testing.T) {
	all := chain()
	second, third := all[1], all[2]
	fork := signed(proposal(&all[0], "another two", 2, "ana", "bob"), "ana")
	for name, c := range map[string]struct {
		last   *versions.Version
		v      versions.Version
		reason string
	}{
		"a swapped number":         {&second, resealed(third, func(v *versions.Version) { v.Number++ }), "number 4 comes after number 3"},
		"the same number again":    {&second, second, "number 4 comes after number 3"},
		"one before":               {&third, second, "number 5 comes after number 4"},
		"a later first":            {nil, second, "begins with number 2"},
		"a stripped approval":      {&second, resealed(third, func(v *versions.Version) { v.Approved = v.Approved[:1] }), "needs 1 more"},
		"stripped without a seal":  {&second, func() versions.Version { v := third; v.Approved = v.Approved[:1]; return v }(), "seal"},
		"an admin of the new only": {&second, signed(third.Proposal, "ana", "cy"), "no admin of the version before"},
		"one admin, two devices":   {&second, signed(third.Proposal, "ana", "ana on phone"), "signed it twice"},
		"one key, two admins": {&second, resealed(third, func(v *versions.Version) {
			v.Approved[1] = v.Proposal.Approve("bob", key("ana"))
		}), "signed it twice"},
		"another's name over a signature": {&second, resealed(third, func(v *versions.Version) { v.Approved[0].Person = "bob"; v.Approved = v.Approved[:1] }), "does not fit"},
		"another file under the names":    {&second, resealed(third, func(v *versions.Version) { v.File = versions.HashOf([]byte("evil")) }), "does not fit"},
		"fewer approvals from now on":     {&all[0], resealed(second, func(v *versions.Version) { v.Approvals = 1 }), "does not fit"},
		"a device as the operator": {&second, resealed(third, func(v *versions.Version) {
			v.Approved[1] = v.Proposal.Approve(versions.Operator, key("mallory"))
		}), "nobody else"},
		"the hub's key as an admin": {&second, resealed(third, func(v *versions.Version) {
			v.Approved[1] = v.Proposal.Approve("bob", hub)
		}), "nobody else"},
		"sealed by another key": {&second, third.Sealed(key("mallory")), "seal"},
		"after a fork":          {&fork, third, "does not follow the version 3 that is known here"},
		"of another hub":        {&second, resealed(third, func(v *versions.Version) { v.Hub = event.NewID(at) }), "another hub"},
	} {
		err := anchor.Check(c.last, c.v)
		bad, ok := errors.AsType[*versions.ChainError](err)
		if !ok || !strings.Contains(bad.Reason, c.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := anchor.Follow(nil, []versions.Version{all[0], third}); err == nil {
		t.Error("a chain with a hole is followed")
	}
}

// An approval of one proposal is none of any other, and none of an event.
func TestASignatureFitsOneProposalOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProposal(t, "p")
		q := anyProposal(t, "q")
		a := p.Approve("ana", key("ana"))
		if !a.Verify(p) {
			t.Fatal("it does not fit its own proposal")
		}
		same := bytes.Equal(versions.Encode(versions.Version{Proposal: p}), versions.Encode(versions.Version{Proposal: q}))
		if a.Verify(q) != same {
			t.Fatal("it fits another proposal")
		}
	})
}

func anyProposal(t *rapid.T, label string) versions.Proposal {
	admins := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ana", "bob", "cy", "dee"}), 1, 4, rapid.ID).Draw(t, label+" admins")
	p := versions.Propose(hubID, nil, []byte{rapid.Byte().Draw(t, label+" file")}, "acme", admins, rapid.IntRange(1, len(admins)).Draw(t, label+" approvals"))
	p.By, p.At = admins[0], event.NewTime(at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, label+" at"))*time.Second))
	return p
}

// However a chain is made by the rules, it is followed; with any one byte of
// any of its versions changed it is not.
func TestChainsHoldAndBreak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []versions.Version
		var last *versions.Version
		for range rapid.IntRange(1, 5).Draw(t, "length") {
			admins := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ana", "bob", "cy", "dee"}), 1, 4, rapid.ID).Draw(t, "admins")
			p := proposal(last, fmt.Sprint(len(all)), rapid.IntRange(1, len(admins)).Draw(t, "approvals"), admins...)
			signers := []string{"hub"}
			if last != nil {
				signers = last.Admins[:last.Approvals]
			}
			all = append(all, signed(p, signers...))
			last = &all[len(all)-1]
		}
		if err := anchor.Follow(nil, all); err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, len(all)-1).Draw(t, "which")
		raw := slices.Clone(versions.Encode(all[n]))
		raw[rapid.IntRange(0, len(raw)-1).Draw(t, "where")] ^= byte(1 << rapid.IntRange(0, 6).Draw(t, "bit"))
		changed, err := versions.Decode(raw)
		if err != nil {
			return
		}
		all[n] = changed
		if err := anchor.Follow(nil, all); err == nil {
			t.Fatalf("a changed chain is followed: %s", raw)
		}
	})
}

func TestAVersionReadsBackInOneFormOnly(t *testing.T) {
	for _, v := range chain() {
		raw := versions.Encode(v)
		got, err := versions.Decode(raw)
		if err != nil || got.Hash() != v.Hash() {
			t.Fatalf("%v: %s", err, raw)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, raw, "", " "); err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string][]byte{
			"indented":      pretty.Bytes(),
			"a newline":     append(slices.Clone(raw), '\n'),
			"a member more": bytes.Replace(raw, []byte(`{"format":1,`), []byte(`{"format":1,"x":1,`), 1),
			"twice":         bytes.Replace(raw, []byte(`{"format":1,`), []byte(`{"format":1,"format":1,`), 1),
			"other case":    bytes.Replace(raw, []byte(`"team"`), []byte(`"Team"`), 1),
			"newer":         bytes.Replace(raw, []byte(`"format":1`), []byte(`"format":2`), 1),
			"cut":           raw[:len(raw)-1],
			"empty":         nil,
		} {
			if _, err := versions.Decode(other); !errors.Is(err, versions.ErrForm) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range chain() {
		f.Add(versions.Encode(v))
	}
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := versions.Decode(b)
		if err == nil && !bytes.Equal(versions.Encode(v), b) {
			t.Fatalf("%q reads as %q", b, versions.Encode(v))
		}
	})
}

// Since when a version is in force is the hub's to say, and never goes back.
func TestVersionsComeIntoForceOneAfterTheOther(t *testing.T) {
	first := signed(proposal(nil, "one", 1, "ana"), "ana").SealedAt(at.Add(time.Hour), nil, hub)
	for sealed, want := range map[time.Time]time.Time{
		at.Add(2 * time.Hour):                    at.Add(2 * time.Hour),
		at.Add(2*time.Hour + 5*time.Microsecond): at.Add(2 * time.Hour),
		at.Add(30 * time.Minute):                 at.Add(time.Hour), // a clock that was set back
		at.Add(-time.Hour):                       at.Add(time.Hour),
	} {
		v := signed(proposal(&first, "two", 1, "ana"), "ana").SealedAt(sealed, &first, hub)
		if err := anchor.Follow(nil, []versions.Version{first, v}); err != nil || !v.Began().Equal(want) {
			t.Errorf("sealed at %s it is in force since %s, %v", sealed, v.Began(), err)
		}
		if back, err := versions.Decode(versions.Encode(v)); err != nil || back.Hash() != v.Hash() {
			t.Errorf("it does not read back: %v", err)
		}
	}
	early := signed(proposal(nil, "one", 1, "ana"), "ana").SealedAt(at.Add(-time.Hour), nil, hub)
	if !early.Began().Equal(at) {
		t.Errorf("it is in force since %s, before it was proposed", early.Began())
	}
	older := signed(proposal(&first, "two", 1, "ana"), "ana") // of a hub that did not say
	if err := anchor.Check(&first, older); err != nil || !older.Began().Equal(at) {
		t.Errorf("in force since %s, %v", older.Began(), err)
	}
	back := resealed(older, func(v *versions.Version) { v.InForce = event.NewTime(at.Add(59 * time.Minute)) })
	moved := signed(proposal(&first, "two", 1, "ana"), "ana").SealedAt(at.Add(2*time.Hour), &first, hub)
	moved.InForce = event.NewTime(at.Add(3 * time.Hour))
	for name, v := range map[string]versions.Version{"it goes back": back, "somebody else moved it": moved} {
		if _, bad := errors.AsType[*versions.ChainError](anchor.Check(&first, v)); !bad {
			t.Errorf("%s, and it is taken", name)
		}
	}
}
