package intake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/sync/gitstore"
	"cairn/sync/intake"
)

// A counter counts how often a check asks for an object.
type counter struct {
	*push
	asked int
}

func (c *counter) Object(h plumbing.Hash) (gitstore.Object, error) {
	c.asked++
	return c.push.Object(h)
}

func (c *counter) Has(h plumbing.Hash) (bool, error) {
	c.asked++
	return c.push.Has(h)
}

// fan is a tree of ten levels, each of which names the next one ten times.
func (p *push) fan(blob plumbing.Hash) plumbing.Hash {
	mode, at := "100644", blob
	for range 10 {
		var lines [][]byte
		for i := range 10 {
			lines = append(lines, line(mode, fmt.Sprintf("d%d", i), at))
		}
		mode, at = "40000", p.tree(lines...)
	}
	return at
}

// The objects of these attacks are few, and what they stand for is more than
// could ever be looked at one by one.
func TestWhatIsSmallAndMeansMuchIsCheap(t *testing.T) {
	attacks := map[string]struct {
		rule string
		make func(p *push) plumbing.Hash
	}{
		"ten thousand million paths": {intake.RuleAppendOnly, func(p *push) plumbing.Hash {
			e := note("x")
			tree := p.fan(p.object(plumbing.BlobObject, []byte(p.file(e))))
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(e)))
		}},
		"the same as one side of a merge": {intake.RuleAppendOnly, func(p *push) plumbing.Hash {
			e := note("x")
			tree := p.fan(p.object(plumbing.BlobObject, []byte(p.file(e))))
			side := p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(e)))
			o, _ := p.merge(p.event(p.base, note("y")), tip{side, tree})
			p.add(o)
			return o.Hash
		}},
		"a hundred thousand parents that never came": {intake.RuleMerge, func(p *push) plumbing.Hash {
			at := p.event(p.base, note("x"))
			absent := "parent " + strings.Repeat("ab", 20) + "\n"
			return p.commit(at, note("y"), "author ", strings.Repeat(absent, 100_000)+"author ").commit
		}},
		"a hundred thousand objects that nothing needs": {intake.RuleUnreachable, func(p *push) plumbing.Hash {
			for i := range 100_000 {
				p.object(plumbing.BlobObject, fmt.Append(nil, i))
			}
			return p.event(p.base, note("x")).commit
		}},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &counter{push: newPush(t)}
			attackTip := attack.make(c.push)
			known := func(h plumbing.Hash) (bool, error) { c.asked++; return c.store.Has(h) }
			raw := func(plumbing.ObjectType, []byte) []intake.Finding { c.asked++; return nil }
			r, err := intake.Check(t.Context(), c, []plumbing.Hash{attackTip}, intake.Options{Space: c.space, Known: known, Raw: raw})
			if err != nil {
				t.Fatal(err)
			}
			if got := rules(r); len(got) == 0 || got[0] != attack.rule {
				t.Errorf("rules %v, want %s", got, attack.rule)
			}
			if c.asked > 3*intake.MaxFindings || len(r.Findings) > intake.MaxFindings {
				t.Errorf("%d questions and %d findings", c.asked, len(r.Findings))
			}
		})
	}
}
