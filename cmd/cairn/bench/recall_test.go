package bench_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/cmd/cairn/bench"
	"cairn/internal/event"
	"cairn/internal/golden"
	"cairn/internal/paths"
	"cairn/policy/secrets/secretstest"
)

func parsed(t *testing.T, text string) []golden.Set {
	t.Helper()
	sets, err := golden.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

const twoSets = `
- notes:
  - {id: pg, title: Billing uses Postgres, text: We chose it because of partial indexes.}
  - {id: twin-1, text: the build is green again}
  - {id: twin-2, text: the build is green again}
  questions:
  - {question: which database does billing use, find: pg, class: words}
  - {question: green build, find: [twin-1, twin-2], class: words}
  - {question: submarine, find: none, class: nothing}
  - {question: postgres, find: none, class: nothing} # wrong on purpose
  - {question: partial indexes, find: twin-1}        # likewise
- notes: [{id: pg, text: a lamp stands on the piano}]
  questions: [{question: piano lamp, find: pg, class: words}]
`

func TestRecallOfNotesThatTheFileBrings(t *testing.T) {
	scratch(t)
	r, err := bench.Recall(t.Context(), bench.RecallOptions{Sets: parsed(t, twoSets)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Notes != 4 || r.All.Questions != 4 || r.All.None != 2 || r.All.NoneRight != 1 || r.All.RecallAt5 != 0.75 {
		t.Errorf("figures of all: %+v", r)
	}
	var classes []string
	for _, c := range r.Classes {
		classes = append(classes, c.Class)
		if c.Class == "words" && (c.RecallAt5 != 1 || c.RecallAt1 != 2.5/3 || c.Lost != 0) {
			t.Errorf("figures of words: %+v", c)
		}
	}
	if strings.Join(classes, " ") != "nothing other words" {
		t.Errorf("classes %v", classes)
	}
	if len(r.Lost) != 2 || r.Lost[0].Question != "postgres" || len(r.Lost[0].Found) != 1 ||
		r.Lost[0].Found[0].Title != "Billing uses Postgres" || r.Lost[1].Line != 11 {
		t.Errorf("lost: %+v", r.Lost)
	}
}

func TestANoteThatTheGateRefusesIsNamedWithoutItsText(t *testing.T) {
	scratch(t)
	token := secretstest.Generate("github-pat", rand.New(rand.NewPCG(1, 2)))
	sets := parsed(t, "notes: [{id: keys, text: 'token "+token+"'}]\nquestions: [{question: a, find: none}]")
	_, err := bench.Recall(t.Context(), bench.RecallOptions{Sets: sets})
	if err == nil || !strings.Contains(err.Error(), `"keys"`) || strings.Contains(err.Error(), token) {
		t.Errorf("got %v", err)
	}
}

// memoryOf answers each question with the hits it has for it, and can nothing
// else: whoever would save in it fails.
type memoryOf struct {
	api.Agent
	hits map[string][]api.Hit
	late string // why answers are not whole; empty if they are
}

func (m memoryOf) Ask(_ context.Context, q api.Query) (api.Answer, error) {
	return api.Answer{Hits: m.hits[q.Text], Partial: m.late != "", Note: m.late}, nil
}

const aboutMine = `
questions:
  - {question: by title, find: billing uses postgres}
  - {question: by end, find: ~0k3m9x}
  - {question: by start, find: 01jz3kq8}
  - {question: too short, find: x2p}
  - {question: nothing, find: none}
`

func mine(hits map[string][]api.Hit) bench.RecallOptions {
	return bench.RecallOptions{Memory: func(context.Context) (api.Agent, error) { return memoryOf{hits: hits}, nil }}
}

func allHits() map[string][]api.Hit {
	hit := []api.Hit{{ID: "01zz0000000000000000000000"}, {ID: event.ID("01jz3kq8000000000000" + "0k3m9x"), Title: "Billing uses Postgres"}}
	return map[string][]api.Hit{"by title": hit, "by end": hit, "by start": hit, "too short": hit}
}

// An answer that may lack notes is no miss, and nothing found in it is no right
// answer: what was asked in such a moment counts for nothing.
func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	opt := mine(nil)
	opt.Sets = parsed(t, aboutMine)
	opt.Memory = func(context.Context) (api.Agent, error) {
		return memoryOf{hits: allHits(), late: "the index is catching up"}, nil
	}
	_, err := bench.Recall(t.Context(), opt)
	if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "the index is catching up") {
		t.Errorf("got %v, want where it was and why", err)
	}
}

func TestTheUsersOwnMemoryIsOnlyAsked(t *testing.T) {
	opt := mine(allHits())
	opt.Sets = parsed(t, aboutMine)
	r, err := bench.Recall(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.All.HitAt5 != 0.75 || r.All.NoneRight != 1 || len(r.Lost) != 1 || r.Lost[0].Question != "too short" || len(r.Classes) != 0 {
		t.Errorf("%+v", r)
	}
	gone := errors.New("no memory here")
	opt.Memory = func(context.Context) (api.Agent, error) { return nil, gone }
	if _, err := bench.Recall(t.Context(), opt); !errors.Is(err, gone) {
		t.Errorf("without a memory: %v", err)
	}
}

func TestWhatWasLostSinceTheLastTimeIsSaid(t *testing.T) {
	home, file := paths.Home(t.TempDir()), filepath.Join(t.TempDir(), "q.yaml")
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	runs := 0
	again := func(text string, hits map[string][]api.Hit) bench.RecallReport {
		opt := mine(hits)
		opt.Sets = parsed(t, text)
		r, err := bench.Recall(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		runs++
		if err := r.Remember(home, file, day.AddDate(0, 0, runs)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	less := allHits()
	delete(less, "by end")
	if r := again(aboutMine, less); r.Last != nil || r.LostSince != 0 || r.Regained != 0 {
		t.Errorf("the first time there is nothing to compare with: %+v", r)
	}
	other := allHits()
	delete(other, "by title")
	r := again(aboutMine, other)
	if r.LostSince != 1 || r.Regained != 1 || !r.Last.Equal(day.AddDate(0, 0, 1)) || !r.Lost[0].Since || r.Lost[0].Question != "by title" || r.Lost[1].Since {
		t.Errorf("one lost, one regained: %+v", r)
	}
	// A question that asks for something else is a new one, and none of the others.
	changed := strings.Replace(aboutMine, "find: 01jz3kq8", "find: 01jz3kq9", 1)
	if r := again(changed, other); r.LostSince != 0 || r.Regained != 0 || r.All.Lost != 3 {
		t.Errorf("a question that was changed: %+v", r)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of questions was touched: %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(string(home), "recall", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("garbled"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := again(aboutMine, less); r.Last != nil {
		t.Errorf("what cannot be read counts as none: %+v", r)
	}
}
