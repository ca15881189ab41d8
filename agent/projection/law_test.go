package projection_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// worlds draws events that have much to do with each other.
func worlds() *rapid.Generator[[]event.Event] {
	return rapid.Custom(func(t *rapid.T) []event.Event {
		n := rapid.IntRange(1, 25).Draw(t, "events")
		ids := make([]event.ID, n)
		for i := range ids {
			ids[i] = event.NewID(now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "age")) * time.Second))
		}
		out := make([]event.Event, n)
		for i := range out {
			e := eventtest.Of(related(t, rapid.SampledFrom(ids)))
			e.ID = ids[i]
			e.Key = rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(t, "key")
			if e.Kind == event.KindLesson {
				e.Parent = rapid.SampledFrom(ids).Draw(t, "parent")
			}
			out[i] = e
		}
		return out
	})
}

func related(t *rapid.T, id *rapid.Generator[event.ID]) event.Payload {
	end := event.NewTime(now)
	switch rapid.IntRange(0, 8).Draw(t, "what") {
	case 0:
		return &event.Observe{Summary: "x", Supersedes: id.Draw(t, "old")}
	case 1:
		return &event.Pref{Category: "c", Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pref"), Value: "v"}
	case 2:
		return &event.Claim{SchemaType: "fact", Key: "c", Content: "v", ValidTo: &end}
	case 3:
		return &event.Archive{Target: id.Draw(t, "target"), Direction: event.DirectionArchive}
	case 4:
		return &event.Archive{Target: id.Draw(t, "target"), Direction: event.DirectionRestore}
	case 5:
		return &event.Redact{Target: id.Draw(t, "target"), Reason: "r"}
	case 6:
		return &event.Verify{Target: id.Draw(t, "target"), Verdict: event.Refuted}
	case 7:
		tr := rapid.SampledFrom([]event.Transition{event.LessonAdd, event.LessonModify, event.LessonRetire}).Draw(t, "tr")
		return &event.Lesson{Category: "c", Text: "t", Transition: tr}
	default:
		return &event.Observe{Summary: "y"}
	}
}

func TestOrderPartsAndRepeatsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := worlds().Draw(t, "world")
		inOrder := projection.NewSet()
		for _, e := range events {
			inOrder.Add(projection.FactOf(e))
		}
		shuffled := append([]event.Event{}, events...)
		shuffled = append(shuffled, rapid.SliceOf(rapid.SampledFrom(events)).Draw(t, "repeats")...)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		other := projection.NewSet()
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "part")
			var facts []projection.Fact
			for _, e := range shuffled[:n] {
				facts = append(facts, projection.FactOf(e))
			}
			other.Add(facts...)
			shuffled = shuffled[n:]
		}
		if inOrder.Digest(view) != other.Digest(view) || inOrder.Count() != other.Count() {
			t.Fatal("two sets of the same events judge them differently")
		}
	})
}

func TestEveryKeyOfALiveEventIsHeldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := worlds().Draw(t, "world")
		set := projection.NewSet()
		for _, e := range events {
			set.Add(projection.FactOf(e))
		}
		early := projection.View{Now: now.Add(-time.Second)} // before anything expires
		for _, key := range []string{"k1", "k2"} {
			holder, _, held := set.LookupKey(key, early)
			for _, e := range events {
				st, _ := set.Standing(e.ID, early)
				if e.Key == key && st.State == api.Live && (!held || holder != e.ID) {
					t.Fatalf("%s is live under %s, which belongs to %q", e.ID, key, holder)
				}
			}
		}
	})
}

func TestARedactedEventStaysSoWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := worlds().Draw(t, "world")
		set := projection.NewSet()
		hidden := map[event.ID]bool{}
		for _, e := range events {
			set.Add(projection.FactOf(e))
			if p, ok := e.Payload.(*event.Redact); ok && p.Target != e.ID {
				hidden[p.Target] = true
			}
			for id := range hidden {
				if st, ok := set.Standing(id, view); ok && st.State != api.Redacted {
					t.Fatalf("%s is %s after its redaction", id, st.State)
				}
			}
		}
	})
}

func TestRemovingIsAsIfItHadNeverBeenThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := worlds().Draw(t, "world")
		n := rapid.IntRange(0, len(events)).Draw(t, "kept")
		all, kept := projection.NewSet(), projection.NewSet()
		var gone []event.ID
		for i, e := range events {
			all.Add(projection.FactOf(e))
			if i < n {
				kept.Add(projection.FactOf(e))
			} else {
				gone = append(gone, e.ID)
			}
		}
		again := projection.NewSet()
		again.Add(all.Facts()...)
		if again.Digest(view) != all.Digest(view) {
			t.Fatal("the facts of a set make another one")
		}
		all.Remove(gone...)
		if all.Digest(view) != kept.Digest(view) || all.Count() != kept.Count() {
			t.Fatal("something of the removed events is left")
		}
	})
}
