package projection

import (
	"math"
	"slices"

	"cairn/internal/event"
)

// A Fact is what the projection keeps of one event. It holds no text.
type Fact struct {
	id       ref
	kind     uint8 // place in kinds; 0 for an event of a newer schema
	class    uint8 // place in classes; 0 if that was not noted
	act      act
	about    ref // the event acted on, if act is not actNone
	parent   ref // zero: none
	chain    ref // zero: none
	content  Content
	key      Content // of the idempotency key's text, zero: no key
	group    string  // of events that replace each other, empty: none
	subject  string
	actor    string
	harness  string
	device   string
	project  string
	tags     string // joined
	observed int64  // Unix milliseconds
	validTo  int64  // Unix milliseconds, forever if there is no end
}

// An act is what an event does to another one.
type act uint8

const (
	actNone act = iota
	actSupersede
	actArchive
	actRestore
	actRetire // as actArchive, and puts itself away as well
	actRedact
	actConfirm
	actRefute
	actDoubt
)

const forever = math.MaxInt64

// kinds gives each kind its number in a Fact, from 1. The numbers are on disk.
var kinds = event.Kinds()

// classes gives each class its number in a Fact, from 1. The numbers are on
// disk; there is room for three.
var classes = []event.Classification{event.Public, event.Private, event.Secret}

func classNumber(c event.Classification) uint8 { return uint8(slices.Index(classes, c) + 1) }

func classOf(n uint8) event.Classification {
	if n == 0 {
		return ""
	}
	return classes[n-1]
}

func kindNumber(k event.Kind) uint8 { return uint8(slices.Index(kinds, k) + 1) }

func kindOf(n uint8) event.Kind {
	if n == 0 {
		return ""
	}
	return kinds[n-1]
}

// FactOf is the fact of a valid event.
func FactOf(e event.Event) Fact {
	f := Fact{
		id: fromID(e.ID), kind: kindNumber(e.Kind), class: classNumber(e.Classification),
		parent: fromID(e.Parent), chain: fromID(e.Chain),
		content: ContentOf(e), key: keyDigest(e.Key),
		subject: e.Subject.ID, actor: e.Actor.ID, harness: e.Actor.Harness, device: string(e.Actor.Device),
		project: e.Project, tags: joinTags(e.Tags),
		observed: e.Observed.UnixMilli(), validTo: forever,
	}
	f.setGroup(e.Payload)
	f.setAct(e)
	return f
}

// FactOfNewer is the fact of an event that only a newer program understands:
// that it is there.
func FactOfNewer(id event.ID) Fact {
	r := fromID(id)
	return Fact{id: r, observed: r.millis(), validTo: forever}
}

// ID is the id of the event.
func (f Fact) ID() event.ID { return f.id.id() }

func (f *Fact) setGroup(p event.Payload) {
	switch p := p.(type) {
	case *event.Pref:
		f.group = PrefGroup(p.Category, p.Key)
	case *event.Claim:
		f.group = ClaimGroup(p.Key)
		if p.ValidTo != nil {
			f.validTo = p.ValidTo.UnixMilli()
		}
	}
}

// PrefGroup names the preferences of which the newest is in force.
func PrefGroup(category, key string) string { return "pref\x00" + category + "\x00" + key }

// ClaimGroup names the claims of which the newest holds.
func ClaimGroup(key string) string { return "claim\x00" + key }

func (f *Fact) setAct(e event.Event) {
	switch p := e.Payload.(type) {
	case *event.Observe:
		f.on(actSupersede, p.Supersedes)
	case *event.Claim:
		f.on(actSupersede, p.Supersedes)
	case *event.Lesson:
		f.on(lessonAct(p.Transition), e.Parent)
	case *event.Verify:
		f.on(verdictAct(p.Verdict), p.Target)
	case *event.Archive:
		if p.Direction == event.DirectionRestore {
			f.on(actRestore, p.Target)
		} else {
			f.on(actArchive, p.Target)
		}
	case *event.Redact:
		f.on(actRedact, p.Target)
	}
}

// on records an act. Nothing acts on itself: an event that claims to is one
// that nobody could have meant.
func (f *Fact) on(a act, target event.ID) {
	if r := fromID(target); a != actNone && target != "" && r != f.id {
		f.act, f.about = a, r
	}
}

// lessonAct: every change of a lesson but its end restates it and so takes
// the place of the one it names.
func lessonAct(t event.Transition) act {
	switch t {
	case event.LessonAdd:
		return actNone
	case event.LessonRetire:
		return actRetire
	default:
		return actSupersede
	}
}

func verdictAct(v event.Verdict) act {
	switch v {
	case event.Confirmed:
		return actConfirm
	case event.Refuted:
		return actRefute
	default:
		return actDoubt
	}
}

func (a act) verdict() event.Verdict {
	switch a {
	case actConfirm:
		return event.Confirmed
	case actRefute:
		return event.Refuted
	case actDoubt:
		return event.Uncertain
	default:
		return ""
	}
}
