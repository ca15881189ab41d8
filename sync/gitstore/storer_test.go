package gitstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage"

	"cairn/sync/gitstore"
)

func openGoGit(t testing.TB, s *gitstore.Store) *gogit.Repository {
	t.Helper()
	r, err := gogit.Open(s.Storer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoGitReadsTheLog(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var want []plumbing.Hash
	for i := range 5 {
		want = append(want, appendCommit(t, s, fmt.Sprint("note ", i)))
	}
	r := openGoGit(t, s)
	last := appendCommit(t, s, "after it was opened")
	want = append(want, last)
	slices.Reverse(want)
	log, err := r.Log(&gogit.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []plumbing.Hash
	err = log.ForEach(func(c *object.Commit) error {
		got = append(got, c.Hash)
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("log %v, %v; want %v", got, err, want)
	}
	c, err := r.CommitObject(last)
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.File("file.txt")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := file.Contents(); err != nil || text != "after it was opened" {
		t.Errorf("file.txt holds %q, %v", text, err)
	}
}

// Plain go-git, on its own storage, must find everything in what we write.
func TestPlainGoGitReadsOurFiles(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 12 {
		appendCommit(t, s, fmt.Sprint("note ", i))
		if i == 8 {
			compact(t, s)
		}
	}
	plain, err := gogit.PlainOpen(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	head, err := plain.Head()
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, s, "refs/heads/main", head.Hash())
	ids, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range ids {
		want, err := s.Object(h)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plain.Storer.EncodedObject(plumbing.AnyObject, h)
		if err != nil || got.Type() != want.Type || got.Size() != int64(len(want.Data)) {
			t.Errorf("object %s: %v", h, err)
		}
	}
}

func TestGoGitFetchesAndCommits(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	git(t, stock, "tag", "-a", "-m", "v1", "v1", "main~3")
	s := newStore(t)
	r := openGoGit(t, s)
	if _, err := r.CreateRemote(&config.RemoteConfig{Name: "hub", URLs: []string{stock}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Fetch(&gogit.FetchOptions{RemoteName: "hub"}); err != nil {
		t.Fatal(err)
	}
	main := plumbing.NewHash(strings.TrimSpace(git(t, stock, "rev-parse", "main")))
	mustBe(t, s, "refs/remotes/hub/main", main)
	if got, want := listObjects(t, s.Dir()), listObjects(t, stock); !slices.Equal(got, want) {
		t.Errorf("fetched %d objects, want %d", len(got), len(want))
	}
	update(t, s, "refs/heads/main", plumbing.ZeroHash, main)

	w, err := gogit.Open(s.Storer(), memfs.New())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Reset(&gogit.ResetOptions{Mode: gogit.HardReset}); err != nil {
		t.Fatal(err)
	}
	f, err := tree.Filesystem.Create("new.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "by go-git"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Add("new.txt"); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "a", Email: "a@example.invalid", When: time.Unix(1700000000, 0)}
	made, err := tree.Commit("by go-git", &gogit.CommitOptions{Author: who})
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, s, "refs/heads/main", made)
	if got := git(t, s.Dir(), "show", "main:new.txt"); got != "by go-git" {
		t.Errorf("new.txt holds %q", got)
	}
	if err := tree.Checkout(&gogit.CheckoutOptions{Hash: main}); !errors.Is(err, gitstore.ErrDetached) {
		t.Errorf("detaching HEAD through go-git: %v, want ErrDetached", err)
	}
	fsck(t, s.Dir())
}

func TestStorerRefs(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	st := s.Storer()
	name := plumbing.ReferenceName("refs/heads/x")
	if _, err := st.Reference(name); err != plumbing.ErrReferenceNotFound {
		t.Errorf("a ref that is not there: %v", err)
	}
	if _, err := st.Reference("x"); err != plumbing.ErrReferenceNotFound {
		t.Errorf("a short name: %v", err)
	}
	toA, toB := plumbing.NewHashReference(name, a), plumbing.NewHashReference(name, b)
	steps := []struct {
		do   func() error
		want error
	}{
		{func() error { return st.SetReference(toA) }, nil},
		{func() error { return st.CheckAndSetReference(toB, toA) }, nil},
		{func() error { return st.CheckAndSetReference(toA, toA) }, storage.ErrReferenceHasChanged},
		{func() error { return st.CheckAndSetReference(toA, nil) }, nil},
		{func() error { return st.SetReference(plumbing.NewSymbolicReference("refs/remotes/hub/HEAD", name)) }, nil},
		{func() error { return st.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, name)) }, nil},
	}
	for i, step := range steps {
		if err := step.do(); err != step.want {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
	}
	mustBe(t, s, "refs/heads/x", a)
	if err := st.RemoveReference(name); !errors.Is(err, gitstore.ErrHeadBranch) {
		t.Errorf("removing HEAD's branch: %v", err)
	}
	if err := st.RemoveReference("refs/remotes/hub/HEAD"); err != nil {
		t.Error(err)
	}
	if err := st.RemoveReference("refs/heads/never"); err != nil {
		t.Error(err)
	}
	if n, err := st.CountLooseRefs(); err != nil || n != 1 {
		t.Errorf("%d loose refs, %v", n, err)
	}
	iter, err := st.IterReferences()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := iter.ForEach(func(r *plumbing.Reference) error { names = append(names, r.String()); return nil }); err != nil {
		t.Error(err)
	}
	if want := []string{"ref: refs/heads/x HEAD", a.String() + " refs/heads/x"}; !slices.Equal(names, want) {
		t.Errorf("refs %v, want %v", names, want)
	}
}

func TestStorerObjects(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	s := openStore(t, stock)
	st := s.Storer()
	for kind, letter := range map[plumbing.ObjectType]string{
		plumbing.CommitObject: "commit", plumbing.TreeObject: "tree", plumbing.BlobObject: "blob",
	} {
		iter, err := st.IterEncodedObjects(kind)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = iter.ForEach(func(o plumbing.EncodedObject) error {
			n++
			size, err := st.EncodedObjectSize(o.Hash())
			if err != nil || size != o.Size() {
				t.Errorf("size of %s: %d, %v; want %d", o.Hash(), size, err, o.Size())
			}
			_, err = st.EncodedObject(plumbing.TagObject, o.Hash())
			if err != plumbing.ErrObjectNotFound {
				t.Errorf("%s as a tag: %v", o.Hash(), err)
			}
			return st.HasEncodedObject(o.Hash())
		})
		types := git(t, stock, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
		if want := strings.Count(types, letter); err != nil || n != want {
			t.Errorf("%d objects of type %s, %v; want %d", n, letter, err, want)
		}
	}
	if err := st.HasEncodedObject(blob("never").Hash); err != plumbing.ErrObjectNotFound {
		t.Errorf("an object that is not there: %v", err)
	}
	m := st.NewEncodedObject()
	m.SetType(plumbing.BlobObject)
	w, err := m.Writer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "by hand"); err != nil {
		t.Fatal(err)
	}
	if h, err := st.SetEncodedObject(m); err != nil || h != blob("by hand").Hash {
		t.Errorf("stored as %s, %v", h, err)
	}
	mustObject(t, s, blob("by hand"))
}

func TestStorerTakesWholePacksOnly(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pw := s.Storer().(storer.PackfileWriter)
	pack := packWith(t, commitOf("packed")...)
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"nothing": {nil, true},
		"half":    {pack[:len(pack)/2], false},
		"more":    {append(slices.Clip(pack), 'x'), false},
		"whole":   {pack, true},
	} {
		w, err := pw.PackfileWriter()
		if err != nil {
			t.Fatal(err)
		}
		_, copyErr := io.Copy(w, bytes.NewReader(c.data))
		err = errors.Join(copyErr, w.Close())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range commitOf("packed") {
		mustObject(t, s, o)
	}
	if left := tree(t, s.Dir()+"/objects/incoming"); len(left) != 1 {
		t.Errorf("left in quarantine: %v", left)
	}
}

func TestStorerRefusesAConfigThatOpenWouldRefuse(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	st := s.Storer()
	c, err := st.Config()
	if err != nil {
		t.Fatal(err)
	}
	c.Remotes["hub"] = &config.RemoteConfig{Name: "hub", URLs: []string{"ssh://hub.invalid/space"}}
	if err := st.SetConfig(c); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "config", "remote.hub.url")); got != "ssh://hub.invalid/space" {
		t.Errorf("remote.hub.url is %q", got)
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "config", "gc.auto")); got != "0" {
		t.Errorf("gc.auto is %q: it was lost", got)
	}
	c.Core.IsBare = false
	if err := st.SetConfig(c); err == nil {
		t.Error("the repository was given a work tree")
	}
	if err := st.SetShallow([]plumbing.Hash{blob("x").Hash}); !errors.Is(err, gitstore.ErrShallow) {
		t.Errorf("made shallow: %v", err)
	}
	openStore(t, s.Dir())
}

// go-git's own storage must not be used by several goroutines; ours may.
func TestStorerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	stock := history(t, 20)
	s := openStore(t, stock)
	st := s.Storer()
	ids, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, h := range ids {
				if _, err := st.EncodedObject(plumbing.AnyObject, h); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
