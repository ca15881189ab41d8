package gittreetest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
)

// A Store holds objects in memory. It is a gitstore.Reader.
type Store struct {
	mu      sync.Mutex
	objects map[plumbing.Hash]gitstore.Object
	reads   int
}

// New returns an empty Store.
func New() *Store { return &Store{objects: make(map[plumbing.Hash]gitstore.Object)} }

// Object returns a stored object.
func (s *Store) Object(h plumbing.Hash) (gitstore.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	o, ok := s.objects[h]
	if !ok {
		return gitstore.Object{}, plumbing.ErrObjectNotFound
	}
	return o, nil
}

// Has reports whether an object is stored.
func (s *Store) Has(h plumbing.Hash) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.objects[h]
	return ok, nil
}

// Reads is how often Object was called so far.
func (s *Store) Reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// Put stores objects.
func (s *Store) Put(objects ...gitstore.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range objects {
		s.objects[o.Hash] = o
	}
}

// Add stores one object and returns its id.
func (s *Store) Add(t plumbing.ObjectType, data []byte) plumbing.Hash {
	o := gitstore.NewObject(t, data)
	s.Put(o)
	return o.Hash
}

// Blob stores a blob and returns its id.
func (s *Store) Blob(text string) plumbing.Hash { return s.Add(plumbing.BlobObject, []byte(text)) }

// Tree stores the tree with these files, by path, and their contents, and returns its id. Paths that cannot stand
// together are a mistake of the test and panic.
func (s *Store) Tree(files map[string]string) plumbing.Hash {
	below := make(map[string]map[string]string)
	var entries []gittree.Entry
	for path, text := range files {
		dir, rest, inside := strings.Cut(path, "/")
		if !inside {
			entries = append(entries, gittree.Entry{Name: path, Mode: filemode.Regular, Hash: s.Blob(text)})
			continue
		}
		if below[dir] == nil {
			below[dir] = make(map[string]string)
		}
		below[dir][rest] = text
	}
	for dir, files := range below {
		entries = append(entries, gittree.Entry{Name: dir, Mode: filemode.Dir, Hash: s.Tree(files)})
	}
	raw, err := gittree.Encode(entries)
	if err != nil {
		panic(err)
	}
	return s.Add(plumbing.TreeObject, raw)
}

// Commit stores a commit with the given committer time and returns its id.
func (s *Store) Commit(tree plumbing.Hash, seconds int64, parents ...plumbing.Hash) plumbing.Hash {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author a <a@b.invalid> 1 +0000\ncommitter a <a@b.invalid> %d +0000\n\nmessage\n", seconds)
	return s.Add(plumbing.CommitObject, []byte(b.String()))
}
