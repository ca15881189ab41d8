package repository_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
)

// goOn saves a note and pushes it, saying that these were the pushes before.
func (m *machine) goOn(before ...plumbing.Hash) answer {
	m.t.Helper()
	m.note("more")
	m.claim = append(before, m.tip())
	return m.push(repository.ForMain)
}

func taken(t *testing.T, a answer) {
	t.Helper()
	if a.err != nil || a.session != nil || !a.outcome.Taken {
		t.Errorf("refused: %v, %v, %v", a.err, a.session, a.lines)
	}
}

func foundOut(t *testing.T, h *hub, push func() answer) {
	t.Helper()
	before := h.files()
	a := push()
	if a.outcome.Taken || !slices.Equal(a.rules(), []string{hubwire.RuleClone}) || !slices.Equal(a.outcome.Rules, a.rules()) {
		t.Errorf("taken: %v, rules %v, %v", a.outcome.Taken, a.rules(), a.lines)
	}
	for path, hash := range h.files() {
		if before[path] != hash {
			t.Errorf("the refused push changed %s", path)
		}
	}
}

// Two copies of a machine push with one key. The first to push goes on; the
// other is found out, also when its history holds all that the first pushed.
func TestASecondCopyOfAMachineIsFoundOut(t *testing.T) {
	h := newHub(t, repository.Limits{})
	a := h.clone("laptop")
	taken(t, a.goOn())
	both := a.tip()
	b := h.clone("laptop") // has fetched, and remembers what a copy would
	taken(t, a.goOn(both))
	first := a.tip()
	foundOut(t, h, func() answer { return b.goOn(both) })
	b.pull()
	foundOut(t, h, func() answer { return b.goOn(both) })
	answered := a.goOn(first)
	taken(t, answered)
	if answered.last != first {
		t.Errorf("on record was %s, want %s", answered.last, first)
	}
	desktop := h.clone("desktop")
	taken(t, desktop.goOn())
}

// Two copies of a machine push in the same moment, and land one after the other
// or together: the key stays with exactly one.
func TestOfTwoCopiesThatPushAtOnceOneKeepsTheKey(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 16})
	a := h.clone("laptop")
	taken(t, a.goOn())
	both := a.tip()
	copies := []*machine{a, h.clone("laptop")}
	release := h.hold()
	answers := make([]answer, len(copies))
	var pushing sync.WaitGroup
	for i, m := range copies {
		m.note("of copy " + string(rune('a'+i)))
		m.claim = []plumbing.Hash{both, m.tip()}
		pushing.Go(func() { answers[i] = m.push(repository.ForMain) })
	}
	h.waitFor(1) // a device has one turn at a time
	release()
	pushing.Wait()
	kept := 0
	for _, a := range answers {
		if a.outcome.Taken {
			kept++
		} else if !slices.Equal(a.rules(), []string{hubwire.RuleClone}) {
			t.Errorf("the other copy was told %v, %v", a.rules(), a.lines)
		}
	}
	if kept != 1 || len(h.events()) != 2 {
		t.Errorf("%d copies keep the key, and the hub has %d events", kept, len(h.events()))
	}
}

// A machine that heard no answer to its last pushes is no copy.
func TestALostAnswerMakesNoCopy(t *testing.T) {
	h := newHub(t, repository.Limits{})
	a := h.clone("laptop")
	taken(t, a.goOn())
	heard := a.tip()
	taken(t, a.goOn(heard))
	lost := a.tip()
	a.claim = []plumbing.Hash{heard, lost}
	taken(t, a.push(repository.ForMain)) // once more, and nothing is new
	taken(t, a.goOn(heard, lost))
}

// Stock git with a device's key says nothing of earlier pushes. It is let in
// and disturbs nobody's record.
func TestStockGitHasNoLease(t *testing.T) {
	h := newHub(t, repository.Limits{})
	a, git := h.clone("laptop"), h.clone("laptop")
	taken(t, a.goOn())
	last := a.tip()
	git.note("by hand")
	taken(t, git.push(repository.ForMain))
	taken(t, a.goOn(last))
}

// What a hub cannot know any more it does not hold against anybody.
func TestALostRecordIsNoCopy(t *testing.T) {
	for name, spoil := range map[string]func(*hub, map[string]any){
		"a power cut left half of it": nil,
		"of commits that are gone": func(h *hub, f map[string]any) {
			f["devices"] = map[string]string{string(eventtest.Device("laptop")): plumbing.NewHash("01").String()}
		},
		"of a history before a purge":  func(_ *hub, f map[string]any) { f["epoch"] = 7 },
		"of nobody, in a strange form": func(_ *hub, f map[string]any) { f["devices"] = nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, repository.Limits{})
			a := h.clone("laptop")
			taken(t, a.goOn())
			path := filepath.Join(h.dir, "leases", "spaces", "team.json")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if spoil == nil {
				b = b[:len(b)/2]
			} else {
				var f map[string]any
				if err := json.Unmarshal(b, &f); err != nil {
					t.Fatal(err)
				}
				spoil(h, f)
				if b, err = json.Marshal(f); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			h.restart()
			taken(t, a.goOn()) // it does not know either
			last := a.tip()
			h.restart()
			foundOut(t, h, func() answer { return a.goOn(plumbing.NewHash("02")) })
			taken(t, a.goOn(last))
		})
	}
}

// restart opens the hub's folder anew.
func (h *hub) restart() {
	h.t.Helper()
	if err := h.set.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.set = repository.NewSet(disk.OS, h.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	var err error
	if h.team, err = h.set.Shared("team"); err != nil {
		h.t.Fatal(err)
	}
}
