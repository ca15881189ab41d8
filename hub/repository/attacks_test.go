package repository_test

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/sync/gittree"
	"cairn/sync/intake"
)

// An attack is a push made by hand, as a client that is not cairn would make
// it, and the rules that refuse it.
type attack struct {
	rules []string
	make  func(h *hub, m *machine) answer
}

func attacksOnSecrets() map[string]attack {
	return map[string]attack{
		"a secret": {[]string{"secret"}, func(h *hub, m *machine) answer {
			m.append(secret(m))
			return m.push(repository.ForMain)
		}},
		"a secret under a later commit": {[]string{"secret"}, func(h *hub, m *machine) answer {
			m.append(secret(m))
			m.note("nothing to see")
			return m.push(event.MainRef)
		}},
		"a secret in an object that no commit needs": {[]string{"secret", intake.RuleUnreachable}, func(h *hub, m *machine) answer {
			m.note("fine")
			return m.pushTip(event.MainRef, m.tip(), m.object(plumbing.BlobObject, []byte(forbidden)))
		}},
		"a secret in a tag": {[]string{intake.RuleObject, "secret"}, func(h *hub, m *machine) answer {
			m.note("fine")
			tag := "object " + m.tip().String() + "\ntype commit\ntag v1\ntagger a <a@b> 1 +0000\n\n" + forbidden + "\n"
			return m.pushTip(event.MainRef, m.tip(), m.object(plumbing.TagObject, []byte(tag)))
		}},
		"a secret in a commit message": {[]string{intake.RuleCommit, "secret"}, func(h *hub, m *machine) answer {
			return m.pushCommit(func(c string) string { return c + forbidden + "\n" })
		}},
		"a secret as the author": {[]string{intake.RuleCommit, "secret"}, func(h *hub, m *machine) answer {
			return m.pushCommit(func(c string) string { return strings.Replace(c, "author ", "author "+forbidden+" ", 1) })
		}},
		"a secret in a path": {[]string{intake.RulePath, "secret"}, func(h *hub, m *machine) answer {
			e := m.event("fine")
			return m.pushTree(e, "events/"+forbidden+".json", encoded(m.t, e))
		}},
	}
}

func attacksOnForm() map[string]attack {
	return map[string]attack{
		"a file beside the events": {[]string{intake.RulePath}, func(h *hub, m *machine) answer {
			return m.pushTree(m.event("fine"), ".gitattributes", []byte("* -text\n"))
		}},
		"an event of another space": {[]string{intake.RuleSpace}, func(h *hub, m *machine) answer {
			e := eventtest.Signed(eventtest.Note("hello"), m.name)
			return m.pushTree(e, commitform.Path(e.ID), encoded(m.t, e))
		}},
		"an event written on a detached HEAD": {[]string{intake.RuleRef}, func(h *hub, m *machine) answer {
			e := m.event("hello")
			e.Ref = "HEAD"
			e = eventtest.Signed(e, m.name)
			return m.pushTree(e, commitform.Path(e.ID), encoded(m.t, e))
		}},
		"an event of a newer cairn": {[]string{intake.RuleNewer}, func(h *hub, m *machine) answer {
			e := m.event("hello")
			newer := bytes.Replace(encoded(m.t, e), []byte(`"schema": 1`), []byte(`"mood": "new", "schema": 2`), 1)
			return m.pushTree(e, commitform.Path(e.ID), newer)
		}},
		"another first commit": {[]string{intake.RuleRoot}, func(h *hub, m *machine) answer {
			space := commitform.Space{Name: "team", ID: event.NewID(time.Now())}
			tree := m.put(plumbing.ZeroHash, commitform.SpaceFile, commitform.EncodeSpace(space))
			root := m.object(plumbing.CommitObject, commitform.Root(tree, space.ID))
			return m.pushTip(repository.ForMain, root)
		}},
		"a head that never came": {[]string{intake.RuleMissing}, func(h *hub, m *machine) answer {
			return m.send(repository.ForMain, plumbing.ComputeHash(plumbing.CommitObject, nil), func(w io.Writer, _ plumbing.Hash) error {
				return m.store.EncodePack(w, nil)
			})
		}},
	}
}

func attacksOnOrigin() map[string]attack {
	return map[string]attack{
		"an event of a stranger": {[]string{gate.RuleUnknownDevice}, func(h *hub, m *machine) answer {
			m.append(eventtest.Signed(m.event("hello"), "stranger"))
			return m.push(event.MainRef)
		}},
		"an event that claims another's name": {[]string{intake.RuleSignature}, func(h *hub, m *machine) answer {
			e := m.event("hello")
			e.Actor.Device = eventtest.Device("desktop")
			return m.pushTree(e, commitform.Path(e.ID), encoded(m.t, e))
		}},
		"an event without a signature": {[]string{intake.RuleSignature}, func(h *hub, m *machine) answer {
			e := m.event("hello")
			e.Sig = nil
			return m.pushTree(e, commitform.Path(e.ID), encoded(m.t, e))
		}},
		"an event of a revoked device": {[]string{gate.RuleRevokedDevice}, func(h *hub, m *machine) answer {
			if _, err := h.members.Revoke(string(eventtest.Device("desktop")), time.Now()); err != nil {
				m.t.Fatal(err)
			}
			m.append(eventtest.Signed(m.event("hello"), "desktop"))
			return m.push(event.MainRef)
		}},
		"an event of somebody who may only read": {[]string{gate.RuleNoRight}, func(h *hub, m *machine) answer {
			h.enrol("bo", devices.Read, "reader")
			m.append(eventtest.Signed(m.event("hello"), "reader"))
			return m.push(event.MainRef)
		}},
		"an event from the future": {[]string{hubwire.RuleClock}, func(h *hub, m *machine) answer {
			e := m.event("hello")
			e.ID = event.NewID(time.Now().Add(event.MaxAhead + time.Minute))
			m.append(eventtest.Signed(e, m.name))
			return m.push(event.MainRef)
		}},
	}
}

func secret(m *machine) event.Event { return m.event("the word is " + forbidden) }

func attacks() map[string]attack {
	all := attacksOnSecrets()
	maps.Copy(all, attacksOnForm())
	maps.Copy(all, attacksOnOrigin())
	return all
}

// Each attack is refused by the rule that it breaks, by name, and leaves no
// file behind.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attack.perform(t, newHub(t, repository.Limits{}), attack.rules)
		})
	}
}

// perform makes the attack, and requires that rules refuse it.
func (a attack) perform(t *testing.T, h *hub, rules []string) {
	m := h.clone("laptop")
	m.note("stored before")
	m.push(event.MainRef).mustBeTaken(t)
	before := h.files()
	answer := a.make(h, m)
	answer.mustBeRefused(t, h, before, "nothing of this push was stored")
	if got := answer.rules(); !slices.Equal(got, slices.Sorted(slices.Values(rules))) {
		t.Errorf("rules %v, want %v:\n%s", got, rules, strings.Join(answer.lines, "\n"))
	}
}

func encoded(t testing.TB, e event.Event) []byte {
	t.Helper()
	b, err := event.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// put adds a file to a tree of the machine.
func (m *machine) put(tree plumbing.Hash, path string, content []byte) plumbing.Hash {
	m.t.Helper()
	blob := m.object(plumbing.BlobObject, content)
	out, made, err := gittree.Insert(m.store, tree, path, blob)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.store.WritePack(made); err != nil {
		m.t.Fatal(err)
	}
	return out
}

func (m *machine) tree() plumbing.Hash {
	m.t.Helper()
	head, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	return head.Tree
}

// pushTree pushes a commit for e that adds the file at path.
func (m *machine) pushTree(e event.Event, path string, content []byte) answer {
	m.t.Helper()
	tree := m.put(m.tree(), path, content)
	return m.pushTip(event.MainRef, m.object(plumbing.CommitObject, commitform.Event(tree, m.tip(), commitform.HeadOf(e))))
}

// pushCommit pushes an event whose commit was edited.
func (m *machine) pushCommit(edit func(string) string) answer {
	m.t.Helper()
	e := m.event("fine")
	tree := m.put(m.tree(), commitform.Path(e.ID), encoded(m.t, e))
	commit := edit(string(commitform.Event(tree, m.tip(), commitform.HeadOf(e))))
	return m.pushTip(event.MainRef, m.object(plumbing.CommitObject, []byte(commit)))
}
