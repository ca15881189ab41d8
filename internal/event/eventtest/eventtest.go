package eventtest

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
)

// Key is the ed25519 key of a test device; the same name gives the same key.
func Key(name string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return ed25519.NewKeyFromSeed(seed)
}

// Device is the id of the device with Key(name).
func Device(name string) event.DeviceID {
	return event.DeviceOf(Key(name).Public().(ed25519.PublicKey))
}

// Note is a valid unsigned note in the space "personal", written on the
// device with Key("laptop").
func Note(text string) event.Event {
	return Of(&event.Observe{Summary: "a note", Content: text})
}

// Of is a valid unsigned event around p.
func Of(p event.Payload) event.Event {
	now := time.Now()
	return event.Event{
		Schema:         event.Schema,
		ID:             event.NewID(now),
		Kind:           p.Kind(),
		Space:          "personal",
		Ref:            event.MainRef,
		Observed:       event.NewTime(now),
		Actor:          event.Actor{Kind: event.ActorHuman, ID: "ana", Device: Device("laptop")},
		Subject:        p.Subject(),
		Layer:          p.Kind().Layer(),
		Authority:      event.Authority{Source: "user"},
		Classification: event.Private,
		Tags:           []string{},
		Policy:         1,
		Payload:        p,
	}
}

// Signed is e signed by Key(name), with that device as its actor's.
func Signed(e event.Event, name string) event.Event {
	e.Actor.Device = Device(name)
	signed, err := event.Sign(e, Key(name))
	if err != nil {
		panic(fmt.Sprintf("eventtest: sign: %v", err))
	}
	return signed
}

var (
	text = rapid.StringOfN(rapid.Rune(), 1, 200, 800)
	line = rapid.StringMatching(`[ -~äöü漢字❤]{1,40}`)
	when = rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "ms"))
	})
	ids = rapid.Custom(func(t *rapid.T) event.ID { return event.NewID(when.Draw(t, "when")) })
)

// Payloads draws a valid payload of any kind.
func Payloads() *rapid.Generator[event.Payload] {
	return rapid.Custom(func(t *rapid.T) event.Payload {
		return payload(t, rapid.SampledFrom(event.Kinds()).Draw(t, "kind"))
	})
}

// Events draws a valid, unsigned event of any kind.
func Events() *rapid.Generator[event.Event] {
	return rapid.Custom(func(t *rapid.T) event.Event {
		e := Of(Payloads().Draw(t, "payload"))
		e.ID = ids.Draw(t, "id")
		e.Observed = event.NewTime(when.Draw(t, "observed"))
		e.Tags = rapid.SliceOfN(line, 0, 3).Draw(t, "tags")
		e.Key = rapid.OneOf(rapid.Just(""), line).Draw(t, "key")
		e.Project = rapid.OneOf(rapid.Just(""), line).Draw(t, "project")
		e.Actor.Harness = rapid.OneOf(rapid.Just(""), line).Draw(t, "harness")
		if rapid.Bool().Draw(t, "scored") {
			score := rapid.Float64Range(0, 1).Draw(t, "score")
			e.Authority.Score = &score
		}
		return e
	})
}

func payload(t *rapid.T, k event.Kind) event.Payload {
	hash := "sha256:" + rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "hash")
	id := ids.Draw(t, "target")
	switch k {
	case event.KindObserve:
		return &event.Observe{Summary: line.Draw(t, "summary"), Content: text.Draw(t, "content"), Source: line.Draw(t, "source")}
	case event.KindClaim:
		support := []event.Support{{Event: id, Excerpt: text.Draw(t, "excerpt"), NotedAt: event.NewTime(when.Draw(t, "noted"))}}
		return &event.Claim{SchemaType: "fact", Key: line.Draw(t, "key"), Content: text.Draw(t, "content"), SupportRefs: support}
	case event.KindLesson:
		rank := rapid.Int().Draw(t, "rank")
		return &event.Lesson{Category: line.Draw(t, "category"), Text: text.Draw(t, "text"), Transition: event.LessonAdd, Rank: &rank}
	case event.KindPref:
		return &event.Pref{Category: line.Draw(t, "category"), Key: line.Draw(t, "key"), Value: text.Draw(t, "value")}
	case event.KindSkillEdit:
		return &event.SkillEdit{SkillName: line.Draw(t, "skill"), File: line.Draw(t, "file"), EditKind: "modify", ContentHash: hash}
	case event.KindVerify:
		return &event.Verify{Target: id, Attestation: text.Draw(t, "attestation"), Verdict: event.Refuted}
	case event.KindArchive:
		return &event.Archive{Target: id, Direction: event.DirectionArchive, Reason: line.Draw(t, "reason")}
	case event.KindRedact:
		return &event.Redact{Target: id, Reason: line.Draw(t, "reason"), RedactedSpans: []event.Span{{Field: "content", Replacement: "x"}}}
	case event.KindImport:
		return &event.Import{SourceKind: "jsonl", SourceRef: line.Draw(t, "ref"), ItemCount: 3, ManifestHash: hash}
	default:
		return &event.Audit{What: line.Draw(t, "what"), Detail: text.Draw(t, "detail")}
	}
}
