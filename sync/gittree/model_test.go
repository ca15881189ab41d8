package gittree_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// paths draws paths whose parts sort differently as files and as directories.
func paths() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a", "a-", "a.b", "a0", "ab", "b", "A"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "/")
	})
}

// fits reports whether path can be a new file beside files.
func fits(files map[string]string, path string) bool {
	for have := range files {
		if have == path || strings.HasPrefix(have, path+"/") || strings.HasPrefix(path, have+"/") {
			return false
		}
	}
	return true
}

// models draws trees as maps from path to content.
func models() *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		files := make(map[string]string)
		for _, p := range rapid.SliceOfN(paths(), 0, 12).Draw(t, "paths") {
			if fits(files, p) {
				files[p] = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "text")
			}
		}
		return files
	})
}

func TestInsertAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, model, root := gittreetest.New(), make(map[string]string), plumbing.ZeroHash
		for _, path := range rapid.SliceOfN(paths(), 1, 20).Draw(t, "paths") {
			id, made, err := gittree.Insert(s, root, path, s.Blob(path))
			if !fits(model, path) {
				if !errors.Is(err, gittree.ErrExists) {
					t.Fatalf("insert %s into %v: %v", path, model, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("insert %s into %v: %v", path, model, err)
			}
			s.Put(made...)
			model[path], root = path, id
			if want := s.Tree(model); root != want {
				t.Fatalf("insert %s made %v, want %v", path, walk(t, s, root), model)
			}
		}
	})
}

func TestManyInsertsAreOneInsertMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		before, all := models().Draw(t, "before"), make(map[string]string)
		maps.Copy(all, before)
		var files []gittree.File
		for _, p := range rapid.SliceOfN(paths(), 0, 12).Draw(t, "more") {
			if fits(all, p) {
				all[p] = "new"
				files = append(files, gittree.File{Path: p, Blob: s.Blob("new")})
			}
		}
		root, made, err := gittree.InsertMany(s, s.Tree(before), files)
		if err != nil {
			t.Fatal(err)
		}
		if want := s.Tree(all); root != want {
			t.Fatalf("made %s, want the tree of %v", root, all)
		}
		if len(files) == 0 && made != nil {
			t.Fatalf("nothing inserted makes %v", made)
		}
	})
}

func TestDiffAgreesWithMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		a, b := models().Draw(t, "a"), models().Draw(t, "b")
		var got []string
		err := gittree.Diff(s, s.Tree(a), s.Tree(b), func(c gittree.Change) error {
			if c.Old != id(s, a, c.Path) || c.New != id(s, b, c.Path) {
				t.Fatalf("change %v between %v and %v", c, a, b)
			}
			got = append(got, c.Path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := different(a, b); !slices.Equal(got, want) {
			t.Fatalf("changes %v, want %v", got, want)
		}
		if got := walk(t, s, s.Tree(b)); !maps.Equal(got, ids(s, b)) {
			t.Fatalf("walk finds %v in %v", got, b)
		}
	})
}

func id(s *gittreetest.Store, files map[string]string, path string) plumbing.Hash {
	if text, ok := files[path]; ok {
		return s.Blob(text)
	}
	return plumbing.ZeroHash
}

func ids(s *gittreetest.Store, files map[string]string) map[string]plumbing.Hash {
	all := make(map[string]plumbing.Hash)
	for path, text := range files {
		all[path] = s.Blob(text)
	}
	return all
}

// different lists the paths in which the maps differ, in order.
func different(a, b map[string]string) []string {
	var paths []string
	for p, text := range a {
		if other, ok := b[p]; !ok || other != text {
			paths = append(paths, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

type fataler interface{ Fatalf(string, ...any) }

func walk(t fataler, r gittree.Reader, root plumbing.Hash) map[string]plumbing.Hash {
	found := make(map[string]plumbing.Hash)
	err := gittree.Walk(r, root, func(path string, blob plumbing.Hash) error {
		if _, twice := found[path]; twice {
			t.Fatalf("walk calls twice for %s", path)
		}
		found[path] = blob
		return nil
	})
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	return found
}

func TestLookupAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		files, path := models().Draw(t, "files"), paths().Draw(t, "path")
		e, err := gittree.Lookup(s, s.Tree(files), path)
		isDir := slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(p string) bool { return strings.HasPrefix(p, path+"/") })
		text, isFile := files[path]
		switch {
		case isFile && (err != nil || e.IsDir() || e.Hash != s.Blob(text)):
			t.Fatalf("file %s: %v, %v", path, e, err)
		case isDir && (err != nil || !e.IsDir()):
			t.Fatalf("directory %s: %v, %v", path, e, err)
		case !isDir && !isFile && !errors.Is(err, gittree.ErrNotFound):
			t.Fatalf("nothing at %s: %v, %v", path, e, err)
		}
	})
}
