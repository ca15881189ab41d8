package hindsight

import (
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/disk"
	"cairn/policy"
)

func by(program string, number int, secrets, terms string) basis {
	return basis{program, policy.Basis{Secrets: secrets, Terms: terms, Number: number, Whole: true}}
}

// What has to be looked at follows from what was judged by before. Texts are
// spared only where no other rules about secrets can have been in force between.
func TestWhatIsDue(t *testing.T) {
	had := by("one", 3, "s", "t")
	for name, c := range map[string]struct {
		now         basis
		under       *pass
		look, texts bool
	}{
		"nothing is new":              {now: had},
		"a version that asks no more": {now: by("one", 4, "s", "t")},
		"two versions later":          {now: by("one", 5, "s", "t"), look: true, texts: true},
		"a pattern":                   {now: by("one", 4, "s2", "t"), look: true, texts: true},
		"an exception has ended":      {now: by("one", 3, "s2", "t"), look: true, texts: true},
		"a kind":                      {now: by("one", 4, "s", "t2"), look: true},
		"another program":             {now: by("two", 3, "s", "t"), look: true, texts: true},
		"no hub any more":             {now: by("one", 1, "", ""), look: true, texts: true},
		"a look is under way":         {now: by("one", 4, "s", "t2"), under: &pass{By: by("one", 4, "s", "t2")}, look: true},
		"it was under way by other rules, and these are back": {now: had, under: &pass{By: by("one", 4, "s2", "t")}, look: true, texts: true},
	} {
		r := &record{By: had, Pass: c.under}
		p := r.due(c.now)
		if (p != nil) != c.look || p != nil && (p.Texts != c.texts || p.By != c.now) || p == nil && r.By != c.now {
			t.Errorf("%s: %+v is due, and the record is by %+v", name, p, r.By)
		}
	}
	if p := new(record).due(had); p == nil || !p.Texts {
		t.Errorf("a space that was never looked at: %+v", p)
	}
}

// The file can be lost, or be anything: then all is looked at once more.
func TestALostRecordIsNoError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judged.json")
	for _, text := range []string{"", "{", "null", "[]", `{"team":null}`, `{"team":{"by":3}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := load(disk.OS, path)
		if err != nil || r.of("team").due(by("one", 1, "", "")) == nil {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
