package projection_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
)

func TestAnEventIsNamedByAPartOfItsID(t *testing.T) {
	s := newStory(t)
	id := s.note("one")
	for range 100 {
		s.note("more")
	}
	for _, name := range []string{
		string(id), strings.ToUpper(string(id)), id.Short(), string(id[18:]), string(id[20:]), "~" + string(id[10:]),
		string(id[:25]), string(id[1:]),
	} {
		if got, err := s.set.Resolve(name); err != nil || got != id {
			t.Errorf("%s names %q, %v", name, got, err)
		}
	}
	for _, short := range []string{"", "~", "abcde", "~abcde", "abcdefu", "not an id", strings.Repeat("0", 27)} {
		if _, err := s.set.Resolve(short); !errors.Is(err, projection.ErrShort) {
			t.Errorf("%q: %v, want ErrShort", short, err)
		}
	}
	for _, unknown := range []string{"zzzzzz", "8" + string(id[1:]), string(event.NewID(now))} {
		if _, err := s.set.Resolve(unknown); !errors.Is(err, projection.ErrUnknown) {
			t.Errorf("%q: %v, want ErrUnknown", unknown, err)
		}
	}
	_, err := s.set.Resolve(string(id[:6]))
	ambiguous, ok := errors.AsType[*projection.AmbiguousError](err)
	if !ok || len(ambiguous.IDs) != 2 {
		t.Errorf("the start that all share: %v", err)
	}
}

func TestEachIsNewestFirstAndFiltered(t *testing.T) {
	s := newStory(t)
	tagged := func(tags ...string) func(*event.Event) {
		return func(e *event.Event) { e.Tags = tags }
	}
	a := s.note("a", tagged("go", "error"), func(e *event.Event) { e.Project = "my-app-v2" })
	start := s.at
	b := s.note("b", tagged("golang"), func(e *event.Event) { e.Actor.Harness = "codex" })
	c := s.pref("tabs")
	d := s.note("d", func(e *event.Event) { e.Actor.ID = "ben" })
	since, until := event.NewTime(start.Add(time.Second)), event.NewTime(start.Add(2*time.Second))
	for name, tt := range map[string]struct {
		filter api.Filter
		want   []event.ID
	}{
		"all":          {api.Filter{}, []event.ID{d, c, b, a}},
		"kind":         {api.Filter{Kind: event.KindPref}, []event.ID{c}},
		"kind, Upper":  {api.Filter{Kind: "Pref"}, []event.ID{c}},
		"unknown kind": {api.Filter{Kind: "x"}, nil},
		"tag":          {api.Filter{Tags: []string{"go"}}, []event.ID{a}},
		"no such tag":  {api.Filter{Tags: []string{"go\x00error"}}, nil},
		"project":      {api.Filter{Project: "my-app-v2"}, []event.ID{a}},
		"part of it":   {api.Filter{Project: "my-app"}, nil},
		"harness":      {api.Filter{Harness: "codex"}, []event.ID{b}},
		"two tags":     {api.Filter{Tags: []string{"GO", "", "go"}}, []event.ID{a}},
		"a tag more":   {api.Filter{Tags: []string{"go", "golang"}}, nil},
		"any case":     {api.Filter{Harness: "Codex", Tags: []string{"GoLang"}}, []event.ID{b}},
		"any case, 2":  {api.Filter{Project: "My-App-V2", Tags: []string{"GO"}}, []event.ID{a}},
		"unknown":      {api.Filter{Harness: "Cursor"}, nil},
		"subject":      {api.Filter{Subject: "style/indent"}, []event.ID{c}},
		"actor":        {api.Filter{Actor: "ben", Kind: event.KindObserve}, []event.ID{d}},
		"times":        {api.Filter{Since: &since, Until: &until}, []event.ID{b}},
	} {
		if got := slices.Collect(s.set.Each(tt.filter)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		for _, id := range []event.ID{a, b, c, d} {
			if s.set.Fits(id, tt.filter) != slices.Contains(tt.want, id) {
				t.Errorf("%s: Fits(%s) disagrees with Each", name, id)
			}
		}
	}
}

func TestNewestIgnoresAClockThatRunsFarAhead(t *testing.T) {
	s := newStory(t)
	if s.set.Newest(now) != "" {
		t.Error("an empty set has a newest id")
	}
	near := event.NewID(now.Add(event.MaxAhead))
	far := event.NewID(now.Add(event.MaxAhead + time.Millisecond))
	s.note("past")
	s.set.Add(projection.FactOfNewer(far), projection.FactOfNewer(near))
	if got := s.set.Newest(now); got != near {
		t.Errorf("newest is %s", got)
	}
}

func TestCountBetween(t *testing.T) {
	s := newStory(t)
	from := s.at.Add(time.Second)
	for range 5 {
		s.note("x")
	}
	if n := s.set.CountBetween(from.Add(time.Second), from.Add(4*time.Second)); n != 3 {
		t.Errorf("counted %d", n)
	}
	if n := s.set.CountBetween(time.Unix(-5, 0), now); n != s.set.Count() {
		t.Errorf("counted %d of all", n)
	}
}

func TestTheNewestOfAMoment(t *testing.T) {
	s := newStory(t)
	var ids []event.ID
	for range 3 {
		ids = append(ids, s.note("x"))
	}
	at := ids[1].Time()
	second := event.NextID(at, ids[1])
	s.note("y", func(e *event.Event) { e.ID = second })
	for when, want := range map[time.Time]event.ID{
		at: second, at.Add(time.Millisecond - 1): second, ids[2].Time(): ids[2], at.Add(time.Millisecond): "", at.Add(-1): "", time.Unix(-5, 0): "",
	} {
		if got := s.set.NewestAt(when); got != want {
			t.Errorf("of %s: %q, want %q", when, got, want)
		}
	}
}

func TestContentIsWhatWasSaid(t *testing.T) {
	s := newStory(t)
	base := s.make(&event.Observe{Summary: "a", Content: "b", Source: "x"})
	same := s.make(&event.Observe{Summary: "a", Content: "b"}, func(e *event.Event) {
		e.Tags, e.Actor.ID = []string{"new"}, "someone"
	})
	if projection.ContentOf(base) != projection.ContentOf(same) || projection.Key(base) != projection.Key(same) {
		t.Error("the same words from somebody else are other content")
	}
	for name, other := range map[string]event.Event{
		"text":       s.make(&event.Observe{Summary: "a", Content: "c"}),
		"moved":      s.make(&event.Observe{Summary: "ab", Content: ""}),
		"project":    s.make(&event.Observe{Summary: "a", Content: "b"}, func(e *event.Event) { e.Project = "p" }),
		"supersedes": s.make(&event.Observe{Summary: "a", Content: "b", Supersedes: base.ID}),
		"kind":       s.make(&event.Lesson{Category: "a", Text: "b", Transition: event.LessonAdd}),
	} {
		if projection.ContentOf(base) == projection.ContentOf(other) || projection.Key(base) == projection.Key(other) {
			t.Errorf("%s: the same content", name)
		}
	}
}
