package gittree_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

func TestOnlyTheDirectoriesOnTheWayAreRead(t *testing.T) {
	s, files := gittreetest.New(), make(map[string]string)
	for i := range 2000 {
		files[fmt.Sprintf("events/2025-%02d/%02d/%d.json", i%12+1, i%28+1, i)] = "text"
	}
	root := s.Tree(files)
	before := s.Reads()
	after, made, err := gittree.Insert(s, root, "events/2025-03/07/new.json", s.Blob("new"))
	if err != nil {
		t.Fatal(err)
	}
	s.Put(made...)
	if n := s.Reads() - before; n != 4 || len(made) != 4 {
		t.Errorf("insert read %d trees and made %d, want 4 and 4", n, len(made))
	}
	if made[len(made)-1].Hash != after {
		t.Error("the new root is not the last object")
	}
	before = s.Reads()
	var changes []gittree.Change
	err = gittree.Diff(s, root, after, func(c gittree.Change) error { changes = append(changes, c); return nil })
	if n := s.Reads() - before; err != nil || n != 8 || len(changes) != 1 {
		t.Errorf("diff read %d trees and found %v, %v", n, changes, err)
	}
}

func TestATreeThatDoesNotChangeIsNotMadeAgain(t *testing.T) {
	s := gittreetest.New()
	root := s.Tree(map[string]string{"a": "text"})
	if got, made, err := gittree.InsertMany(s, root, nil); got != root || made != nil || err != nil {
		t.Errorf("nothing inserted: %s, %v, %v", got, made, err)
	}
	for _, none := range []plumbing.Hash{plumbing.ZeroHash, gitstore.NewObject(plumbing.TreeObject, nil).Hash} {
		if got, made, err := gittree.Union(s, root, none); got != root || made != nil || err != nil {
			t.Errorf("with the empty tree %s: %s, %v, %v", none, got, made, err)
		}
		if got, _, err := gittree.Insert(s, none, "a", s.Blob("text")); got != root || err != nil {
			t.Errorf("into the empty tree %s: %s, %v", none, got, err)
		}
	}
}

func TestABatchThatContradictsItselfIsRefused(t *testing.T) {
	s := gittreetest.New()
	blob := s.Blob("text")
	for name, batch := range map[string][]gittree.File{
		"twice":                   {{Path: "a", Blob: blob}, {Path: "a", Blob: blob}},
		"file and directory":      {{Path: "a/b", Blob: blob}, {Path: "a", Blob: blob}},
		"the same, others inside": {{Path: "a/b", Blob: blob}, {Path: "a.b", Blob: blob}, {Path: "a", Blob: blob}},
	} {
		if _, made, err := gittree.InsertMany(s, plumbing.ZeroHash, batch); !errors.Is(err, gittree.ErrExists) || made != nil {
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
}

func TestPathsThatCannotBeFilesAreRefused(t *testing.T) {
	s := gittreetest.New()
	for _, path := range []string{"", "/a", "a/", "a//b", "a/../b", ".git/config", "a/.GIT/x", "a\\b", "a\x00b", strings.Repeat("a/", 65) + "b"} {
		if _, _, err := gittree.Insert(s, plumbing.ZeroHash, path, s.Blob("x")); !isMalformed(err) {
			t.Errorf("path %q: %v", path, err)
		}
	}
	if _, _, err := gittree.Insert(s, plumbing.ZeroHash, "a", plumbing.ZeroHash); !isMalformed(err) {
		t.Errorf("a file without content: %v", err)
	}
}

var errEnough = errors.New("enough")

// functions is everything that reads a tree, called on two roots.
func functions(s gittree.Reader) map[string]func(a, b plumbing.Hash) error {
	calls := 0
	stop := func() error {
		if calls++; calls > 100 {
			return errEnough
		}
		return nil
	}
	return map[string]func(a, b plumbing.Hash) error{
		"walk": func(a, _ plumbing.Hash) error {
			return gittree.Walk(s, a, func(string, plumbing.Hash) error { return stop() })
		},
		"diff": func(a, b plumbing.Hash) error {
			return gittree.Diff(s, a, b, func(gittree.Change) error { return stop() })
		},
		"union":     func(a, b plumbing.Hash) error { _, _, err := gittree.Union(s, a, b); return err },
		"collector": func(a, b plumbing.Hash) error { return gittree.NewCollector(s).Add(a, b) },
	}
}

// nest returns the tree that holds the tree inner in depth directories called name.
func nest(s *gittreetest.Store, inner plumbing.Hash, depth int, names ...string) plumbing.Hash {
	for range depth {
		var data []byte
		for _, n := range names {
			data = append(data, "40000 "+n+"\x00"...)
			data = append(data, inner[:]...)
		}
		inner = s.Add(plumbing.TreeObject, data)
	}
	return inner
}

func TestHostileTreesEnd(t *testing.T) {
	s := gittreetest.New()
	one, two := s.Tree(map[string]string{"x": "one"}), s.Tree(map[string]string{"y": "two"})
	empty := s.Tree(nil)
	for name, roots := range map[string][2]plumbing.Hash{
		"nested too deep":    {nest(s, one, 3000, "d"), nest(s, two, 3000, "d")},
		"empty directory":    {nest(s, empty, 1, "d", "e"), nest(s, one, 1, "d", "e")},
		"a blob for a tree":  {nest(s, s.Blob("text"), 1, "d"), nest(s, one, 1, "d")},
		"a link":             {s.Add(plumbing.TreeObject, raw("120000 a")), one},
		"cut off":            {s.Add(plumbing.TreeObject, []byte("100644 a\x00abc")), one},
		"an object, no tree": {s.Blob("text"), one},
	} {
		for fn, call := range functions(s) {
			if err := call(roots[0], roots[1]); !isMalformed(err) {
				t.Errorf("%s, %s: %v", name, fn, err)
			}
		}
	}
}

// A tree of sixty levels with two equal branches each has as many paths as there are grains of sand. What only joins
// or gathers does each directory once; what calls the test ends when the test says so.
func TestATreeOfManyEqualBranchesEnds(t *testing.T) {
	s := gittreetest.New()
	one := nest(s, s.Tree(map[string]string{"x": "one"}), 60, "a", "b")
	two := nest(s, s.Tree(map[string]string{"y": "two"}), 60, "a", "b")
	for fn, call := range functions(s) {
		err := call(one, two)
		if asks := fn == "walk" || fn == "diff"; asks && !errors.Is(err, errEnough) || !asks && err != nil {
			t.Errorf("%s: %v", fn, err)
		}
	}
	both, _, err := gittree.Union(s, one, two)
	if want := nest(s, s.Tree(map[string]string{"x": "one", "y": "two"}), 60, "a", "b"); both != want || err != nil {
		t.Errorf("the union is %s, %v, want %s", both, err, want)
	}
}

func TestAMissingTreeIsSaidToBeMissing(t *testing.T) {
	s := gittreetest.New()
	lost := plumbing.NewHash("dead")
	have := s.Tree(map[string]string{"a": "b"})
	for fn, call := range functions(s) {
		if err := call(lost, have); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("%s: %v", fn, err)
		}
	}
	if _, _, err := gittree.Insert(s, lost, "a", have); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("insert: %v", err)
	}
	if _, err := gittree.Lookup(s, lost, "a"); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("lookup: %v", err)
	}
}

func TestInsertsBuildOnEachOtherInAnOverlay(t *testing.T) {
	s := gittreetest.New()
	o := gittree.NewOverlay(s)
	root := plumbing.ZeroHash
	for _, p := range []string{"d/a", "d/b", "d/e/c"} {
		id, made, err := gittree.Insert(o, root, p, s.Blob(p))
		if err != nil {
			t.Fatal(err)
		}
		o.Add(made...)
		root = id
	}
	if want := s.Tree(map[string]string{"d/a": "d/a", "d/b": "d/b", "d/e/c": "d/e/c"}); root != want {
		t.Errorf("the overlay made %v", walk(t, o, root))
	}
}

func TestStockGitMakesTheSameTree(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: its trees are not compared with ours")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", dir}, args...)...)
		cmd.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "PATH=/nowhere"}
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("", "init", "-q")
	s := gittreetest.New()
	var files []gittree.File
	var index strings.Builder
	blob := run("text", "hash-object", "-w", "--stdin")
	for _, p := range []string{"a", "a-b/x", "a.b/y", "a0", "ab/c/d", "ab/c.d", "ab/c-d", "Z/a b", "events/2025-01/02/03/x.json"} {
		files = append(files, gittree.File{Path: p, Blob: s.Blob("text")})
		fmt.Fprintf(&index, "100644 %s\t%s\n", blob, p)
	}
	run(index.String(), "update-index", "--add", "--index-info")
	root, _, err := gittree.InsertMany(s, plumbing.ZeroHash, files)
	if err != nil {
		t.Fatal(err)
	}
	if want := run("", "write-tree"); root.String() != want {
		t.Errorf("git makes %s, we make %s", want, root)
	}
}
