package memory_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// hiddenWord is what the policy of these tests takes for a secret.
const hiddenWord = "swordfish"

func noSwordfish(opt *memory.Options) {
	opt.Decide = func(e event.Event) error {
		fields, err := event.Fields(e)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if strings.Contains(f.Value, hiddenWord) {
				return &problem.Problem{Code: problem.Secret, Message: "looks like a secret", Rule: "fish", Field: f.Path, Hint: "take it out"}
			}
		}
		return nil
	}
}

func TestARefusedNoteIsNowhereButOnTheList(t *testing.T) {
	t.Parallel()
	h := newHome(t, noSwordfish)
	for field, d := range map[string]api.Draft{
		"payload.content":    note("the word is " + hiddenWord),
		"payload.summary":    {Payload: &event.Observe{Summary: hiddenWord, Content: "x"}},
		"payload.source":     {Payload: &event.Observe{Content: "x", Source: hiddenWord}},
		"tags[0]":            {Payload: &event.Observe{Content: "x"}, Tags: []string{hiddenWord}},
		"project":            {Payload: &event.Observe{Content: "x"}, Project: hiddenWord},
		"key":                {Payload: &event.Observe{Content: "x"}, Key: hiddenWord},
		"actor.id":           {Payload: &event.Observe{Content: "x"}, Actor: event.Actor{ID: hiddenWord}},
		"subject.id":         {Payload: &event.Claim{Key: hiddenWord, Content: "x"}},
		"payload.text":       {Payload: &event.Lesson{Category: "c", Text: hiddenWord}},
		"payload.value":      pref(hiddenWord),
		"payload.source_ref": {Payload: &event.Import{SourceKind: "x", SourceRef: hiddenWord, ManifestHash: "sha256:" + strings.Repeat("0", 64)}},
	} {
		p := h.refuses(d, problem.Secret)
		if p.Rule != "fish" || !strings.HasPrefix(p.Field, strings.SplitN(field, "[", 2)[0]) && field != "payload.content" {
			t.Errorf("%s: problem %+v", field, p)
		}
	}
	list, err := h.Refused(t.Context())
	if err != nil || len(list) != 11 {
		t.Fatalf("%d refused, %v", len(list), err)
	}
	if r := list[0]; r.Rule != "fish" || r.Field == "" || r.By != "machine" || r.Space != "personal" || r.ID == "" {
		t.Errorf("refusal %+v", r)
	}
	if n := h.events("personal"); n != 0 {
		t.Errorf("%d events", n)
	}
	noFileHolds(t, string(h.dir), hiddenWord)
	h.restart()
	if err := h.Dismiss(t.Context(), list[0].ID.Short()); err != nil {
		t.Fatal(err)
	}
	if list, err := h.Refused(t.Context()); err != nil || len(list) != 10 {
		t.Errorf("%d refused, %v", len(list), err)
	}
	if p, ok := errors.AsType[*problem.Problem](h.Dismiss(t.Context(), "zzzzzz")); !ok || p.Code != problem.NotFound {
		t.Errorf("dismissing nothing: %v", p)
	}
}

// noFileHolds looks for a text in every file below dir.
func noFileHolds(t *testing.T, dir, text string) {
	t.Helper()
	files := 0
	eachFile(t, dir, func(name string, b []byte) {
		files++
		if strings.Contains(string(b), text) {
			t.Errorf("%s holds the text", name)
		}
	})
	if files == 0 {
		t.Error("no file was looked at")
	}
}

// eachFile reads every file below dir. One that goes away meanwhile is none.
func eachFile(t *testing.T, dir string, fn func(name string, b []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		b, err := os.ReadFile(name)
		if err == nil {
			fn(name, b)
		}
		return ignoreGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func TestTheGateIsAskedBeforeGit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, rule := range secrets.Rules() {
		if !rule.SelfIdentifying {
			continue
		}
		text := secretstest.Generate(rule.ID, r)
		p := h.refuses(note("see "+text+" for more"), problem.Secret)
		if p.Rule == "" || p.Field == "" || strings.Contains(p.Message+p.Hint, text) {
			t.Errorf("%s: %+v", rule.ID, p)
		}
	}
	d := note("x")
	d.Space, d.Classification = "team", event.Private
	if p := h.refuses(d, problem.Policy); p.Field != "classification" {
		t.Errorf("a private note for the team: %+v", p)
	}
	if n := h.events(""); n != 0 {
		t.Errorf("%d events", n)
	}
}

func TestOneRefusedItemDoesNotStopAnImport(t *testing.T) {
	t.Parallel()
	h := newHome(t, noSwordfish)
	var drafts []api.Draft
	for i := range 50 {
		text := strings.Repeat("badger ", i+1)
		if i == 20 {
			text += hiddenWord
		}
		drafts = append(drafts, note(text))
	}
	results, err := h.Import(t.Context(), drafts)
	if err != nil || len(results) != 50 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		if (r.Problem != nil) != (i == 20) {
			t.Errorf("item %d: %+v", i, r)
		}
	}
	if h.events("personal") != 49 {
		t.Errorf("%d events", h.events("personal"))
	}
}

// An event that came from elsewhere and in which a newer rule sees a secret
// stays in the history and is shown to nobody.
func TestAWithheldEventIsNotShown(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id, other := h.note("badger one"), h.note("badger two")
	refusal := api.Refusal{ID: id, At: event.NewTime(day(1)), Space: "personal", By: "machine", Rule: "fish", Field: "payload.content"}
	for range 2 {
		if err := h.Withhold(t.Context(), "personal", refusal); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		h.finds("badger", other)
		h.findsIn(api.Query{Text: "badger", All: true}, other)
		if got := h.log(api.Query{All: true}); len(got) != 1 || got[0] != other {
			t.Errorf("log %v", got)
		}
		if _, err := h.Show(t.Context(), string(id), true); problem.Of(err).Code != problem.Secret {
			t.Errorf("show: %v", err)
		}
		if digest, err := h.Digest(t.Context(), 0); err != nil || strings.Contains(digest, id.Short()) {
			t.Errorf("digest %q, %v", digest, err)
		}
		if h.events("personal") != 1 {
			t.Error("exported")
		}
		if list, err := h.Refused(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("refused %v, %v", list, err)
		}
	}
	check()
	h.restart()
	check()
	if err := h.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
}

// A rule is taken back: what was withheld by it is found again, and is on no
// list. The digest notices though as many are withheld as before.
func TestAnEventThatIsGivenBackIsShown(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id, other := h.note("badger one"), h.note("badger two")
	withhold := func(id event.ID) {
		t.Helper()
		if err := h.Withhold(t.Context(), "personal", api.Refusal{ID: id, At: event.NewTime(day(1)), Space: "personal", By: "machine", Rule: "fish"}); err != nil {
			t.Fatal(err)
		}
	}
	digest := func(in, out event.ID) {
		t.Helper()
		if text, err := h.Digest(t.Context(), 0); err != nil || !strings.Contains(text, in.Short()) || strings.Contains(text, out.Short()) {
			t.Errorf("digest %q, %v", text, err)
		}
	}
	withhold(id)
	h.finds("badger", other)
	digest(other, id)
	for range 2 {
		if err := h.GiveBack(t.Context(), "personal", id); err != nil {
			t.Fatal(err)
		}
	}
	h.finds("badger", other, id)
	withhold(other)
	digest(id, other)
	if err := h.GiveBack(t.Context(), "personal", other, event.NewID(day(1))); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		h.finds("badger", other, id)
		if list, err := h.Refused(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("refused %v, %v", list, err)
		}
		if h.events("personal") != 2 {
			t.Error("it is not exported")
		}
	}
	check()
	h.restart()
	check()
}
