package intake_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/intake"
	"cairn/sync/merge"
)

// push is a hand-made set of objects on top of a real log.
type push struct {
	t     *testing.T
	space commitform.Space
	store *gitstore.Store
	base  tip // the log's head
	new   map[plumbing.Hash]gitstore.Object
	order []plumbing.Hash
	place map[plumbing.Hash]int // in order
}

type tip struct{ commit, tree plumbing.Hash }

func newPush(t *testing.T) *push {
	t.Helper()
	space := commitform.Space{Name: "personal", ID: event.NewID(time.Now())}
	l, err := eventlog.Create(disk.OS, filepath.Join(t.TempDir(), "s.git"), space)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, err = l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) {
		return []event.Event{note("stored")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	return &push{t: t, space: space, store: l.Store(), base: tip{head.Commit, head.Tree}, new: map[plumbing.Hash]gitstore.Object{}, place: map[plumbing.Hash]int{}}
}

func (p *push) Object(h plumbing.Hash) (gitstore.Object, error) {
	if o, ok := p.new[h]; ok {
		return o, nil
	}
	return p.store.Object(h)
}

func (p *push) Has(h plumbing.Hash) (bool, error) {
	if _, ok := p.new[h]; ok {
		return true, nil
	}
	return p.store.Has(h)
}

func (p *push) Number(h plumbing.Hash) (int, bool) {
	_, ok := p.new[h]
	return p.place[h], ok
}

func (p *push) Each(_ context.Context, fn func(gitstore.Object) error) error {
	for _, h := range p.order {
		if err := fn(p.new[h]); err != nil {
			return err
		}
	}
	return nil
}

func (p *push) add(objects ...gitstore.Object) {
	for _, o := range objects {
		if _, ok := p.new[o.Hash]; !ok {
			p.new[o.Hash], p.place[o.Hash] = o, len(p.order)
			p.order = append(p.order, o.Hash)
		}
	}
}

func (p *push) object(t plumbing.ObjectType, data []byte) plumbing.Hash {
	o := gitstore.NewObject(t, data)
	p.add(o)
	return o.Hash
}

// put adds content at path to the tree.
func (p *push) put(tree plumbing.Hash, path, content string) plumbing.Hash {
	blob := p.object(plumbing.BlobObject, []byte(content))
	out, made, err := gittree.Insert(p, tree, path, blob)
	if err != nil {
		p.t.Fatal(err)
	}
	p.add(made...)
	return out
}

func (p *push) file(e event.Event) string {
	b, err := event.Encode(e)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// event commits e as cairn would.
func (p *push) event(on tip, e event.Event) tip {
	tree := p.put(on.tree, commitform.Path(e.ID), p.file(e))
	return tip{p.object(plumbing.CommitObject, commitform.Event(tree, on.commit, commitform.HeadOf(e))), tree}
}

// commit is an event commit whose bytes are changed by the pairs of old and new text.
func (p *push) commit(on tip, e event.Event, edit ...string) tip {
	tree := p.put(on.tree, commitform.Path(e.ID), p.file(e))
	was := string(commitform.Event(tree, on.commit, commitform.HeadOf(e)))
	now := strings.NewReplacer(edit...).Replace(was)
	if now == was {
		p.t.Fatalf("the edit %q changes nothing in %q", edit, was)
	}
	return tip{p.object(plumbing.CommitObject, []byte(now)), tree}
}

func (p *push) merge(a, b tip) (gitstore.Object, tip) {
	o, trees, err := merge.Commit(p, a.commit, b.commit)
	if err != nil {
		p.t.Fatal(err)
	}
	p.add(trees...)
	tree, _, err := gittree.Union(p, a.tree, b.tree)
	if err != nil {
		p.t.Fatal(err)
	}
	return o, tip{o.Hash, tree}
}

func note(text string) event.Event { return eventtest.Signed(eventtest.Note(text), "laptop") }

func (p *push) check(at plumbing.Hash, opt intake.Options) intake.Report {
	p.t.Helper()
	opt.Space, opt.Known = p.space, p.store.Has
	report, err := intake.Check(context.Background(), p, []plumbing.Hash{at}, opt)
	if err != nil {
		p.t.Fatal(err)
	}
	return report
}

func rules(r intake.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestWhatCairnWritesPasses(t *testing.T) {
	p := newPush(t)
	a := p.event(p.event(p.base, note("one")), note("two"))
	b := p.event(p.base, note("three"))
	o, both := p.merge(a, b)
	p.add(o)
	last := p.event(both, note("four"))
	r := p.check(last.commit, intake.Options{})
	if len(r.Findings) > 0 || len(r.Events) != 4 || r.Commits != 5 {
		t.Fatalf("%d events, %d commits, findings %+v", len(r.Events), r.Commits, r.Findings)
	}
}

// tree is a tree made of raw lines.
func (p *push) tree(lines ...[]byte) plumbing.Hash {
	return p.object(plumbing.TreeObject, bytes.Join(lines, nil))
}

func line(mode, name string, h plumbing.Hash) []byte {
	return append([]byte(mode+" "+name+"\x00"), h[:]...)
}

// rootLines are the two entries of the base's root tree.
func (p *push) rootLines() (spaceFile, events plumbing.Hash) {
	f, err := gittree.Lookup(p, p.base.tree, commitform.SpaceFile)
	if err != nil {
		p.t.Fatal(err)
	}
	d, err := gittree.Lookup(p, p.base.tree, "events")
	if err != nil {
		p.t.Fatal(err)
	}
	return f.Hash, d.Hash
}

// Each attack is made by hand as a client that is not cairn would make it, and
// the rule that refuses it is named.
func TestAttacks(t *testing.T) {
	private := "customer" + "-name"
	e := func() event.Event { return note("x") }
	raw := func(p *push, tree plumbing.Hash) plumbing.Hash {
		return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(e())))
	}
	attacks := map[string]struct {
		rule string
		make func(p *push) plumbing.Hash
	}{
		"text in the subject": {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "observe: ", "observe: "+private+" ").commit }},
		"a second paragraph": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "Schema: 1\n", "Schema: 1\n\n"+private+"\n").commit
		}},
		"another trailer": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "Schema: 1\n", "Schema: 1\nNote: "+private+"\n").commit
		}},
		"no last line feed":     {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "Schema: 1\n", "Schema: 1").commit }},
		"another kind":          {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "observe: ", "lesson: ").commit }},
		"carriage return":       {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "observe: ", "observe:\r ").commit }},
		"a name for the author": {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "author ", "author "+private+" ").commit }},
		"a name for the committer": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "committer ", "committer "+private+" ").commit
		}},
		"another address": {intake.RuleCommit, func(p *push) plumbing.Hash { return p.commit(p.base, e(), "@cairn.invalid", "@"+private).commit }},
		"another time zone": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), " +0000\ncommitter", " +0130\ncommitter").commit
		}},
		"a second author": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "committer ", "author "+private+" <a@b> 1 +0000\ncommitter ").commit
		}},
		"an encoding": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "\n\nobserve", "\nencoding UTF-7\n\nobserve").commit
		}},
		"text as a signature": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "\n\nobserve", "\ngpgsig "+private+"\n\nobserve").commit
		}},
		"an unknown header": {intake.RuleCommit, func(p *push) plumbing.Hash {
			return p.commit(p.base, e(), "\n\nobserve", "\nx "+private+"\n\nobserve").commit
		}},
		"not a commit at all": {intake.RuleCommit, func(p *push) plumbing.Hash { return p.object(plumbing.CommitObject, []byte(private)) }},
		"a blob as head":      {intake.RuleCommit, func(p *push) plumbing.Hash { return p.object(plumbing.BlobObject, []byte(private)) }},
		"a missing parent": {intake.RuleMissing, func(p *push) plumbing.Hash {
			return p.event(tip{plumbing.ComputeHash(plumbing.CommitObject, nil), p.base.tree}, e()).commit
		}},
		"a missing head": {intake.RuleMissing, func(p *push) plumbing.Hash { return plumbing.ComputeHash(plumbing.CommitObject, nil) }},
		"a missing tree": {intake.RuleMissing, func(p *push) plumbing.Hash { return raw(p, plumbing.ComputeHash(plumbing.TreeObject, []byte("x"))) }},
		"a missing blob": {intake.RuleMissing, func(p *push) plumbing.Hash {
			x := e()
			tree, made, err := gittree.Insert(p, p.base.tree, commitform.Path(x.ID), plumbing.ComputeHash(plumbing.BlobObject, []byte("gone")))
			if err != nil {
				p.t.Fatal(err)
			}
			p.add(made...)
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(x)))
		}},
		"nothing added": {intake.RuleAppendOnly, func(p *push) plumbing.Hash { return raw(p, p.base.tree) }},
		"two files at once": {intake.RuleAppendOnly, func(p *push) plumbing.Hash {
			x, y := e(), e()
			tree, made, err := gittree.InsertMany(p, p.base.tree, []gittree.File{
				{Path: commitform.Path(x.ID), Blob: p.object(plumbing.BlobObject, []byte(p.file(x)))},
				{Path: commitform.Path(y.ID), Blob: p.object(plumbing.BlobObject, []byte(p.file(y)))},
			})
			if err != nil {
				p.t.Fatal(err)
			}
			p.add(made...)
			return raw(p, tree)
		}},
		"everything removed": {intake.RuleAppendOnly, func(p *push) plumbing.Hash {
			space, _ := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, space)))
		}},
		"the space file changed": {intake.RuleAppendOnly, func(p *push) plumbing.Hash {
			_, events := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, p.object(plumbing.BlobObject, []byte(private))), line("40000", "events", events)))
		}},
		"a file elsewhere": {intake.RulePath, func(p *push) plumbing.Hash { return raw(p, p.put(p.base.tree, "README.md", private)) }},
		"an event elsewhere": {intake.RulePath, func(p *push) plumbing.Hash {
			x := e()
			return raw(p, p.put(p.base.tree, "events/"+string(x.ID)+".json", p.file(x)))
		}},
		"under another's name": {intake.RulePath, func(p *push) plumbing.Hash {
			x, y := e(), e()
			tree := p.put(p.base.tree, commitform.Path(y.ID), p.file(x))
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(x)))
		}},
		"git attributes": {intake.RulePath, func(p *push) plumbing.Hash { return raw(p, p.put(p.base.tree, ".gitattributes", private)) }},
		"no event": {intake.RuleEvent, func(p *push) plumbing.Hash {
			x := e()
			tree := p.put(p.base.tree, commitform.Path(x.ID), private)
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(x)))
		}},
		"an unknown member": {intake.RuleEvent, func(p *push) plumbing.Hash {
			x := e()
			tree := p.put(p.base.tree, commitform.Path(x.ID), strings.Replace(p.file(x), `"schema"`, `"x": "`+private+`", "schema"`, 1))
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(x)))
		}},
		"a newer schema": {intake.RuleNewer, func(p *push) plumbing.Hash {
			x := e()
			tree := p.put(p.base.tree, commitform.Path(x.ID), strings.Replace(p.file(x), `"schema": 1`, `"schema": 2`, 1))
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, commitform.HeadOf(x)))
		}},
		"of another space": {intake.RuleSpace, func(p *push) plumbing.Hash {
			x := eventtest.Note("x")
			x.Space = "team"
			return p.event(p.base, eventtest.Signed(x, "laptop")).commit
		}},
		"on a detached HEAD": {intake.RuleRef, func(p *push) plumbing.Hash {
			x := eventtest.Note("x")
			x.Ref = "HEAD"
			return p.event(p.base, eventtest.Signed(x, "laptop")).commit
		}},
		"unsigned": {intake.RuleSignature, func(p *push) plumbing.Hash { return p.event(p.base, eventtest.Note("x")).commit }},
		"signed by another": {intake.RuleSignature, func(p *push) plumbing.Hash {
			x := eventtest.Signed(eventtest.Note("x"), "desktop")
			x.Actor.Device = eventtest.Device("laptop")
			return p.event(p.base, x).commit
		}},
		"changed after signing": {intake.RuleSignature, func(p *push) plumbing.Hash { x := e(); x.Project = private; return p.event(p.base, x).commit }},
		"an executable file": {intake.RuleObject, func(p *push) plumbing.Hash {
			space, events := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, space), line("40000", "events", events), line("100755", "run", p.object(plumbing.BlobObject, []byte(private)))))
		}},
		"a symbolic link": {intake.RuleObject, func(p *push) plumbing.Hash {
			space, events := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, space), line("40000", "events", events), line("120000", "link", p.object(plumbing.BlobObject, []byte(private)))))
		}},
		"a submodule": {intake.RuleObject, func(p *push) plumbing.Hash {
			space, events := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, space), line("40000", "events", events), line("160000", "sub", plumbing.ComputeHash(plumbing.CommitObject, nil))))
		}},
		"an escape in a name": {intake.RuleObject, func(p *push) plumbing.Hash {
			space, events := p.rootLines()
			return raw(p, p.tree(line("100644", commitform.SpaceFile, space), line("40000", "events", events), line("100644", "x\x1b[31m", p.object(plumbing.BlobObject, []byte(private)))))
		}},
		"a garbled tree": {intake.RuleObject, func(p *push) plumbing.Hash { return raw(p, p.tree([]byte("100644 "+private))) }},
		"three parents": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a, b := p.event(p.base, e()), p.event(p.base, e())
			o, _ := p.merge(a, b)
			return p.object(plumbing.CommitObject, bytes.Replace(o.Data, []byte("author"), []byte("parent "+p.base.commit.String()+"\nauthor"), 1))
		}},
		"parent twice": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a := p.event(p.base, e())
			o, _, err := merge.Commit(p, a.commit, a.commit)
			if err != nil {
				p.t.Fatal(err)
			}
			p.add(o)
			return o.Hash
		}},
		"words in a merge": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a, b := p.event(p.base, e()), p.event(p.base, e())
			o, _ := p.merge(a, b)
			return p.object(plumbing.CommitObject, append(slices.Clone(o.Data), private...))
		}},
		"a merge that adds": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a, b := p.event(p.base, e()), p.event(p.base, e())
			_, m := p.merge(a, b)
			x := e()
			return p.object(plumbing.CommitObject, commitform.Merge(p.put(m.tree, commitform.Path(x.ID), p.file(x)), a.commit, b.commit, time.Now().Unix()))
		}},
		"a merge that drops": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a, b := p.event(p.base, e()), p.event(p.base, e())
			return p.object(plumbing.CommitObject, commitform.Merge(a.tree, a.commit, b.commit, time.Now().Unix()))
		}},
		"a merge at another time": {intake.RuleMerge, func(p *push) plumbing.Hash {
			a, b := p.event(p.base, e()), p.event(p.base, e())
			_, m := p.merge(a, b)
			return p.object(plumbing.CommitObject, commitform.Merge(m.tree, a.commit, b.commit, 4_000_000_000))
		}},
		"another root": {intake.RuleRoot, func(p *push) plumbing.Hash {
			other := commitform.Space{Name: "personal", ID: event.NewID(time.Now())}
			tree := p.put(plumbing.ZeroHash, commitform.SpaceFile, string(commitform.EncodeSpace(other)))
			return p.object(plumbing.CommitObject, commitform.Root(tree, other.ID))
		}},
		"a root with more": {intake.RuleRoot, func(p *push) plumbing.Hash {
			tree := p.put(p.put(plumbing.ZeroHash, commitform.SpaceFile, string(commitform.EncodeSpace(p.space))), "x", private)
			return p.object(plumbing.CommitObject, commitform.Root(tree, p.space.ID))
		}},
		"an object no commit needs": {intake.RuleUnreachable, func(p *push) plumbing.Hash {
			p.object(plumbing.BlobObject, []byte(private))
			return p.event(p.base, e()).commit
		}},
		"a commit no head needs": {intake.RuleUnreachable, func(p *push) plumbing.Hash { p.event(p.base, e()); return p.event(p.base, e()).commit }},
		"a tag": {intake.RuleObject, func(p *push) plumbing.Hash {
			c := p.event(p.base, e()).commit
			p.object(plumbing.TagObject, fmt.Appendf(nil, "object %s\ntype commit\ntag v1\ntagger a <b> 1 +0000\n\n%s\n", c, private))
			return c
		}},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPush(t)
			r := p.check(attack.make(p), intake.Options{})
			if got := rules(r); !slices.Contains(got, attack.rule) {
				t.Errorf("rules %v, want %s", got, attack.rule)
			}
			if attack.rule != intake.RuleUnreachable && slices.Contains(rules(r), intake.RuleUnreachable) {
				t.Errorf("what the refused commit brought is called unreachable: %+v", r.Findings)
			}
			if out := fmt.Sprintf("%+v", r); strings.Contains(out, private) {
				t.Errorf("the report quotes the attack: %s", out)
			}
		})
	}
}

func TestEveryFindingIsReported(t *testing.T) {
	p := newPush(t)
	x := eventtest.Note("x")
	x.Space, x.Ref = "team", "HEAD"
	first := p.event(p.base, x)
	second := p.commit(first, note("y"), "observe", "lesson")
	r := p.check(second.commit, intake.Options{})
	want := []string{intake.RuleCommit, intake.RuleRef, intake.RuleSignature, intake.RuleSpace}
	if got := rules(r); !slices.Equal(got, want) {
		t.Fatalf("rules %v, want %v", got, want)
	}
}

func TestTheCallersJudgementIsAsked(t *testing.T) {
	p := newPush(t)
	e := note("x")
	c := p.event(p.base, e)
	stray := p.object(plumbing.BlobObject, []byte("stray"))
	var admitted []event.ID
	seen := map[plumbing.ObjectType]int{}
	r := p.check(c.commit, intake.Options{
		Admit: func(e event.Event) []intake.Finding {
			admitted = append(admitted, e.ID)
			return []intake.Finding{{Rule: "said", Field: "payload.content"}}
		},
		Raw: func(kind plumbing.ObjectType, data []byte) []intake.Finding {
			seen[kind]++
			if kind == plumbing.BlobObject && !bytes.Equal(data, []byte("stray")) {
				t.Errorf("an admitted event is scanned again as bytes: %s", data)
			}
			return nil
		},
	})
	if !slices.Equal(admitted, []event.ID{e.ID}) {
		t.Errorf("admitted %v", admitted)
	}
	if seen[plumbing.CommitObject] != 1 || seen[plumbing.BlobObject] != 1 || seen[plumbing.TreeObject] < 4 {
		t.Errorf("raw objects seen: %v", seen)
	}
	at := slices.IndexFunc(r.Findings, func(f intake.Finding) bool { return f.Rule == "said" })
	if f := r.Findings[at]; !f.Content || f.Event != e.ID || f.Path != commitform.Path(e.ID) || f.Commit != c.commit {
		t.Errorf("finding %+v", f)
	}
	if !slices.ContainsFunc(r.Findings, func(f intake.Finding) bool { return f.Object == stray && f.Rule == intake.RuleUnreachable }) {
		t.Errorf("the stray object is not reported: %+v", r.Findings)
	}
}

// A commit that says what its event or its parents make it say has no words of
// its own, nor have its trees. Any other is scanned with its trees, whatever
// else is wrong with it, and so are the trees of what follows it.
func TestACommitIsScannedUnlessItsBytesFollow(t *testing.T) {
	for name, c := range map[string]struct {
		make    func(p *push) plumbing.Hash
		opt     intake.Options
		scanned bool
		trees   bool // are scanned, though the commit is not
	}{
		"an event after one with a word more": {trees: true, make: func(p *push) plumbing.Hash {
			return p.event(p.commit(p.base, note("x"), "Cairn-Schema", "a word\n\nCairn-Schema"), note("y")).commit
		}},
		"an event": {make: func(p *push) plumbing.Hash { return p.event(p.base, note("x")).commit }},
		"a merge": {make: func(p *push) plumbing.Hash {
			o, _ := p.merge(p.event(p.base, note("x")), p.event(p.base, note("y")))
			p.add(o)
			return o.Hash
		}},
		"an event with a word more": {scanned: true, make: func(p *push) plumbing.Hash {
			return p.commit(p.event(p.base, note("x")), note("y"), "Cairn-Schema", "a word\n\nCairn-Schema").commit
		}},
		"a merge with a word more": {scanned: true, make: func(p *push) plumbing.Hash {
			o, _ := p.merge(p.event(p.base, note("x")), p.event(p.base, note("y")))
			return p.object(plumbing.CommitObject, append(slices.Clone(o.Data), "a word"...))
		}},
		"an event of another's": {scanned: true, make: func(p *push) plumbing.Hash {
			return p.event(p.base, eventtest.Note("not signed")).commit
		}},
		"an event that is not admitted": {scanned: true, opt: intake.Options{
			Admit: func(event.Event) []intake.Finding { return []intake.Finding{{Rule: "said"}} },
		}, make: func(p *push) plumbing.Hash { return p.event(p.base, note("x")).commit }},
		"a newer event": {scanned: true, opt: intake.Options{KeepNewer: true}, make: func(p *push) plumbing.Hash {
			x := note("x")
			file := strings.Replace(p.file(x), `"schema": 1`, `"mood": "new", "schema": 2`, 1)
			form := commitform.HeadOf(x)
			form.Schema = 2
			tree := p.put(p.base.tree, commitform.Path(x.ID), file)
			return p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, form))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPush(t)
			tip := c.make(p)
			parsed, err := history.ParseCommit(p.new[tip].Data)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[plumbing.Hash]bool{}
			c.opt.Raw = func(kind plumbing.ObjectType, data []byte) []intake.Finding {
				seen[plumbing.ComputeHash(kind, data)] = true
				return nil
			}
			p.check(tip, c.opt)
			tree := c.scanned || c.trees
			if seen[tip] != c.scanned || seen[parsed.Tree] != tree {
				t.Errorf("scanned: the commit %v, its tree %v", seen[tip], seen[parsed.Tree])
			}
		})
	}
}

func TestANewerEventIsKeptWhereAsked(t *testing.T) {
	p := newPush(t)
	x := note("x")
	file := strings.Replace(p.file(x), `"schema": 1`, `"mood": "new", "schema": 2`, 1)
	form := commitform.HeadOf(x)
	form.Schema = 2
	tree := p.put(p.base.tree, commitform.Path(x.ID), file)
	good := p.object(plumbing.CommitObject, commitform.Event(tree, p.base.commit, form))
	if r := p.check(good, intake.Options{KeepNewer: true}); len(r.Findings) > 0 || len(r.Events) != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
	delete(p.new, good)
	p.order = p.order[:len(p.order)-1]
	bad := p.object(plumbing.CommitObject, append(commitform.Event(tree, p.base.commit, form), "more"...))
	if r := p.check(bad, intake.Options{KeepNewer: true}); !slices.Contains(rules(r), intake.RuleCommit) {
		t.Errorf("text in its commit passes: %+v", r.Findings)
	}
}
