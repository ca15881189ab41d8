package policy_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/secrets/secretstest"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

func token(seed uint64) string { return secretstest.Generate("github-pat", seeded(seed)) }

func refusal(t *testing.T, err error) *policy.RefusedError {
	t.Helper()
	refused, ok := errors.AsType[*policy.RefusedError](err)
	if !ok {
		t.Fatalf("not refused: %v", err)
	}
	return refused
}

// eventsWith puts a text into every field that a writer can fill, one at a
// time.
func eventsWith(text string) map[string]event.Event {
	of := func(p event.Payload) event.Event { return eventtest.Of(p) }
	edited := func(change func(*event.Event)) event.Event {
		e := eventtest.Note("x")
		change(&e)
		return e
	}
	hash := "sha256:" + strings.Repeat("0a1b2c3d", 8)
	target := eventtest.Note("x").ID
	return map[string]event.Event{
		"payload.summary":                 of(&event.Observe{Summary: text}),
		"payload.content":                 of(&event.Observe{Summary: "x", Content: "see\n\n\t" + text}),
		"payload.content_ref":             of(&event.Observe{Summary: "x", ContentRef: text}),
		"payload.source":                  of(&event.Observe{Summary: "x", Source: text}),
		"payload.key":                     of(&event.Claim{SchemaType: "fact", Key: text, Content: "x"}),
		"payload.support_refs[0].excerpt": of(&event.Claim{SchemaType: "fact", Key: "k", Content: "x", SupportRefs: []event.Support{{Event: target, Excerpt: text}}}),
		"payload.text":                    of(&event.Lesson{Category: "go", Text: text, Transition: event.LessonAdd}),
		"payload.category":                of(&event.Lesson{Category: text, Text: "x", Transition: event.LessonAdd}),
		"payload.value":                   of(&event.Pref{Category: "c", Key: "k", Value: text}),
		"payload.previous_value":          of(&event.Pref{Category: "c", Key: "k", Value: "x", PreviousValue: text}),
		"payload.file":                    of(&event.SkillEdit{SkillName: "s", File: "docs/" + text + ".md", EditKind: "create", ContentHash: hash}),
		"payload.skill_name":              of(&event.SkillEdit{SkillName: text, File: "f", EditKind: "create", ContentHash: hash}),
		"payload.attestation":             of(&event.Verify{Target: target, Attestation: text, Verdict: event.Confirmed}),
		"payload.reason":                  of(&event.Redact{Target: target, Reason: "it held " + text}),
		"payload.source_ref":              of(&event.Import{SourceKind: "jsonl", SourceRef: text, ManifestHash: hash}),
		"payload.detail":                  of(&event.Audit{What: "x", Detail: text}),
		"tags[1]":                         edited(func(e *event.Event) { e.Tags = []string{"a", text} }),
		"key":                             edited(func(e *event.Event) { e.Key = text }),
		"project":                         edited(func(e *event.Event) { e.Project = text }),
		"actor.id":                        edited(func(e *event.Event) { e.Actor.ID = text }),
		"actor.harness":                   edited(func(e *event.Event) { e.Actor.Harness = text }),
		"authority.attested_by":           edited(func(e *event.Event) { e.Authority.AttestedBy = text }),
		"ref":                             edited(func(e *event.Event) { e.Ref = "refs/heads/" + text }),
	}
}

func TestASecretInAnyFieldIsRefused(t *testing.T) {
	p := policy.Default()
	secret := token(1)
	for field, e := range eventsWith(secret) {
		refused := refusal(t, p.Decide(e))
		if refused.Code != problem.Secret {
			t.Errorf("%s: code %s", field, refused.Code)
		}
		named := false
		for _, f := range refused.Findings {
			named = named || f.Field == field && f.Rule == "github-pat" && f.Certain
		}
		if !named {
			t.Errorf("%s: findings %+v name another field or rule", field, refused.Findings)
		}
	}
	for field, e := range eventsWith("all is well") {
		if err := p.Decide(e); err != nil {
			t.Errorf("%s: a harmless text is refused: %v", field, err)
		}
	}
}

func TestARefusalListsEveryFindingAndNoSecret(t *testing.T) {
	first, second, third := token(1), secretstest.Forms("aws-access-key-id", seeded(2))[0], token(3)
	e := eventtest.Note("one " + first + "\ntwo " + second)
	e.Tags = []string{third}
	refused := refusal(t, policy.Default().Decide(e))
	if len(refused.Findings) < 3 {
		t.Errorf("%d findings, want all 3", len(refused.Findings))
	}
	shown, err := json.Marshal(refused.Problem())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{first, second, third} {
		if text := refused.Error() + refused.Hint() + string(shown); strings.Contains(text, secret[5:]) {
			t.Errorf("the refusal repeats the secret")
		}
	}
	if !strings.Contains(refused.Error(), "payload.content") || !strings.Contains(refused.Error(), "github-pat") {
		t.Errorf("the message names neither field nor rule: %v", refused)
	}
}

// A preference named for a password makes its value one, as a title does.
func TestATitleIsContextForItsText(t *testing.T) {
	p := policy.Default()
	value := "Tr0ub" + "4dor-x9K"
	for name, e := range map[string]event.Event{
		"preference": eventtest.Of(&event.Pref{Category: "db", Key: "password", Value: value}),
		"claim":      eventtest.Of(&event.Claim{SchemaType: "fact", Key: "staging.db_password", Content: value}),
		"note":       eventtest.Of(&event.Observe{Summary: "admin password", Content: value}),
		"the past":   eventtest.Of(&event.Pref{Category: "db", Key: "password", Value: "none", PreviousValue: value}),
	} {
		if err := p.Decide(e); err == nil {
			t.Errorf("%s: the name does not count", name)
		}
	}
	for name, e := range map[string]event.Event{
		"preference": eventtest.Of(&event.Pref{Category: "editor", Key: "theme", Value: value}),
		"a hash":     eventtest.Of(&event.Claim{SchemaType: "fact", Key: "release.commit", Content: strings.Repeat("0a1b2c3d", 5)}),
	} {
		if err := p.Decide(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsTooBigOrGarbledOrMisplacedIsRefusedByName(t *testing.T) {
	note := func(text string) event.Event { return eventtest.Note(text) }
	misplaced := note("x")
	misplaced.Classification = event.Secret
	for want, e := range map[problem.Code]event.Event{
		problem.TooBig:  note(strings.Repeat("a", event.MaxText+1)),
		problem.NotUTF8: note("caf\xe9"),
		problem.Policy:  misplaced,
	} {
		refused := refusal(t, policy.Default().Decide(e))
		if refused.Code != want || refused.Field == "" || refused.Hint() == "" {
			t.Errorf("want %s: %+v", want, refused)
		}
	}
	invalid := note("x")
	invalid.Kind = "poem"
	err := policy.Default().Decide(invalid)
	if _, ok := errors.AsType[*event.InvalidError](err); !ok {
		t.Errorf("an invalid event: %v", err)
	}
}

// What the agent lets pass, the hub lets pass: the stored file, the commit
// made for it, the names on its path.
func TestWhatPassesHerePassesAtTheHub(t *testing.T) {
	p := policy.Default()
	rapid.Check(t, func(t *rapid.T) {
		e := eventtest.Events().Draw(t, "event")
		if err := p.Decide(e); err != nil {
			t.Fatalf("an event without a secret is refused: %v", err)
		}
		file, err := event.Unsigned(e)
		if err != nil {
			t.Fatal(err)
		}
		var tree commitform.Hash
		copy(tree[:], file)
		commit := commitform.Event(tree, tree, commitform.HeadOf(e))
		entry := append([]byte("100644 "+string(e.ID)+".json\x00"), tree[:]...)
		for kind, data := range map[string][]byte{policy.Blob: file, policy.Commit: commit, policy.Tree: entry, policy.Ref: []byte(event.MainRef)} {
			if found := p.DecideRaw(kind, data); len(found) > 0 {
				t.Fatalf("the hub refuses its %s: %+v", kind, found)
			}
		}
	})
}

func TestLongNotesOfIdentifiersPass(t *testing.T) {
	var text strings.Builder
	r := seeded(5)
	for text.Len() < 40_000 {
		for _, sample := range secretstest.Clean(r) {
			switch sample.Sort {
			case "commit ids", "UUIDs", "ULIDs", "go.sum", "lock files", "branches", "traces", "integrity", "digests":
				text.WriteString(sample.Text + "\n")
			}
		}
	}
	if err := policy.Default().Decide(eventtest.Note(text.String())); err != nil {
		t.Error(err)
	}
}

// A finding names the field that its writer filled in, not the one that
// follows from it.
func TestAFindingNamesWhatWasWritten(t *testing.T) {
	token := secretstest.Generate("github-pat", rand.New(rand.NewPCG(7, 7)))
	for want, p := range map[string]event.Payload{
		"payload.content": &event.Observe{Summary: "it is " + token, Content: "it is " + token + "\nand more"},
		"payload.summary": &event.Observe{Summary: "it is " + token, Content: "harmless"},
		"payload.key":     &event.Claim{SchemaType: "s", Key: token, Content: "harmless"},
	} {
		err := policy.Default().Decide(eventtest.Of(p))
		refused, ok := errors.AsType[*policy.RefusedError](err)
		if !ok || refused.Field != want {
			t.Errorf("%s: %v", want, err)
			continue
		}
		for _, f := range refused.Findings {
			if f.Field != want {
				t.Errorf("%s: also named %s", want, f.Field)
			}
		}
	}
}
