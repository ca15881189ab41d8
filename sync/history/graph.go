package history

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// A Graph is a set of commits that holds the parents of each. Commits are numbered in the order in which they came in,
// parents before children. So whatever a commit can reach has a smaller number, and every question is answered by going
// through numbers up or down, without a queue and however deep the history is.
type Graph struct {
	r     Reader
	under *Graph // nil, or what this graph was forked from
	first int32  // the first number that under does not answer for

	adding sync.Mutex   // held by Add while it reads; taken before mu
	source Source       // of a file that was not looked at yet, or nil; guarded by adding
	mu     sync.RWMutex // guards what follows
	file   *file        // the first numbers, or nil
	number map[plumbing.Hash]int32
	chunks []*chunk // the numbers after those of file
	count  int32
}

// chunk holds the nodes of consecutive numbers. A full chunk never changes, so forks share it.
type chunk [chunkSize]node

const chunkSize = 512

type node struct {
	hash, tree plumbing.Hash
	seconds    int64
	parents    []int32
}

// New returns an empty Graph that will read commits from r.
func New(r Reader) *Graph {
	return &Graph{r: r, number: make(map[plumbing.Hash]int32)}
}

// A Source is a Reader that may hold git's commit-graph file too; a gitstore.Store is one.
type Source interface {
	Reader
	// CommitGraph returns the file, or nothing if there is none.
	CommitGraph() ([]byte, error)
}

// Open is New for a repository with a long history. The first Add takes what it can from the commit-graph file, as
// Encode or git wrote it, and reads only the commits that came after it. A file that is damaged, cannot be read, or
// speaks of other commits than the repository holds is passed over: the commits say everything that it could.
func Open(s Source) *Graph {
	g := New(s)
	g.source = s
	return g
}

// load takes in the file, if there is one that was not looked at yet. Called with adding held.
func (g *Graph) load() {
	if g.source == nil {
		return
	}
	raw, err := g.source.CommitGraph()
	g.source = nil
	if err != nil || len(raw) == 0 {
		return
	}
	f, err := parseFile(raw)
	if err != nil || !f.agrees(g.r) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.file, g.count = f, f.count()
}

// Unsaved is how many commits the graph knows that it did not learn from a file.
func (g *Graph) Unsaved() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return int(g.count - g.file.count())
}

// Fork returns a Graph that knows what g knows now and learns on its own from r, for example from the objects of a push
// that may still be refused. g learns nothing of it. A fork is cheap.
func (g *Graph) Fork(r Reader) *Graph {
	g.mu.RLock()
	defer g.mu.RUnlock()
	f := New(r)
	f.under, f.first, f.file, f.count = g, g.count, g.file, g.count
	f.chunks = slices.Clone(g.chunks)
	if last := len(f.chunks) - 1; last >= 0 {
		own := *f.chunks[last]
		f.chunks[last] = &own
	}
	return f
}

// Add makes the tips and all their ancestors known. It reads only commits that are not known yet.
// If one cannot be read nothing is added. Errors: *MalformedError, or the Reader's.
func (g *Graph) Add(tips ...plumbing.Hash) error {
	g.adding.Lock()
	defer g.adding.Unlock()
	g.load()
	commits, err := g.read(tips)
	if err != nil {
		return fmt.Errorf("learn history: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range commits {
		if err := g.insert(c); err != nil {
			return fmt.Errorf("learn history: %w", err)
		}
	}
	return nil
}

// unknown is a commit on its way into the graph.
type unknown struct {
	hash, tree plumbing.Hash
	seconds    int64
	parents    []plumbing.Hash
	ready      bool // it is in the list, after its parents
}

// A scanner reads many objects more quickly than one by one; a gitstore.Store is one.
type scanner interface{ Scan() *gitstore.Scan }

// manyCommits is from how many on. The newest few are what a Store has just written or read.
const manyCommits = 64

// read returns the commits below tips that are not known, parents before children.
func (g *Graph) read(tips []plumbing.Hash) ([]*unknown, error) {
	var list []*unknown
	r := g.r
	seen := make(map[plumbing.Hash]*unknown)
	stack := slices.Clone(tips)
	for len(stack) > 0 {
		h := stack[len(stack)-1]
		u := seen[h]
		if u == nil && !g.Has(h) {
			if s, ok := g.r.(scanner); ok && len(seen) == manyCommits {
				r = s.Scan()
			}
			c, err := ReadCommit(r, h)
			if err != nil {
				return nil, err
			}
			seen[h] = &unknown{hash: h, tree: c.Tree, seconds: c.Seconds, parents: c.Parents}
			stack = append(stack, c.Parents...) // h stays below them and is met again
			continue
		}
		if u != nil && !u.ready {
			u.ready = true
			list = append(list, u)
		}
		stack = stack[:len(stack)-1]
	}
	return list, nil
}

// insert gives u the next number. Called with mu held.
func (g *Graph) insert(u *unknown) error {
	n := node{hash: u.hash, tree: u.tree, seconds: u.seconds, parents: make([]int32, len(u.parents))}
	for i, p := range u.parents {
		number, ok := g.find(p)
		if !ok { // only bytes that do not belong to their id can do that
			return &MalformedError{"a commit is its own ancestor"}
		}
		n.parents[i] = number
	}
	if (g.count-g.file.count())%chunkSize == 0 {
		g.chunks = append(g.chunks, new(chunk))
	}
	*g.node(g.count) = n
	g.number[u.hash] = g.count
	g.count++
	return nil
}

// node returns the node of a number that is not the file's. Called with mu held, and so are the next ones.
func (g *Graph) node(n int32) *node {
	n -= g.file.count()
	return &g.chunks[n/chunkSize][n%chunkSize]
}

func (g *Graph) hash(n int32) plumbing.Hash {
	if n < g.file.count() {
		return g.file.hash(n)
	}
	return g.node(n).hash
}

func (g *Graph) tree(n int32) plumbing.Hash {
	if n < g.file.count() {
		return g.file.tree(n)
	}
	return g.node(n).tree
}

func (g *Graph) seconds(n int32) int64 {
	if n < g.file.count() {
		return g.file.seconds(n)
	}
	return g.node(n).seconds
}

// parents returns the parents of n in their order; room is where it may put them.
func (g *Graph) parents(n int32, room []int32) []int32 {
	if n < g.file.count() {
		return g.file.parents(n, room)
	}
	return g.node(n).parents
}

// find returns the number of a commit. Called with mu held; forks lock from the top down.
func (g *Graph) find(h plumbing.Hash) (int32, bool) {
	if n, ok := g.number[h]; ok {
		return n, true
	}
	if g.under == nil {
		return g.file.find(h)
	}
	g.under.mu.RLock()
	defer g.under.mu.RUnlock()
	n, ok := g.under.find(h)
	return n, ok && n < g.first
}

// known returns the numbers of commits, or an *UnknownError for the first that has none. Called with mu held.
func (g *Graph) known(commits []plumbing.Hash) ([]int32, error) {
	numbers := make([]int32, len(commits))
	for i, h := range commits {
		n, ok := g.find(h)
		if !ok {
			return nil, &UnknownError{h}
		}
		numbers[i] = n
	}
	return numbers, nil
}

// some returns the numbers of those commits that are known. Called with mu held.
func (g *Graph) some(commits []plumbing.Hash) []int32 {
	var numbers []int32
	for _, h := range commits {
		if n, ok := g.find(h); ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Has reports whether the commit is known.
func (g *Graph) Has(commit plumbing.Hash) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	_, ok := g.find(commit)
	return ok
}

// Len is how many commits are known.
func (g *Graph) Len() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return int(g.count)
}

// Tree returns the tree of a commit, or an *UnknownError.
func (g *Graph) Tree(commit plumbing.Hash) (plumbing.Hash, error) {
	tree, _, err := g.trees(commit)
	return tree, err
}

// trees returns the trees of a commit and of its parents.
func (g *Graph) trees(commit plumbing.Hash) (tree plumbing.Hash, parents []plumbing.Hash, err error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	number, ok := g.find(commit)
	if !ok {
		return tree, nil, &UnknownError{commit}
	}
	for _, p := range g.parents(number, nil) {
		parents = append(parents, g.tree(p))
	}
	return g.tree(number), parents, nil
}

// Parents returns the parents of a commit in their order, or an *UnknownError.
func (g *Graph) Parents(commit plumbing.Hash) ([]plumbing.Hash, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	number, ok := g.find(commit)
	if !ok {
		return nil, &UnknownError{commit}
	}
	return g.hashes(g.parents(number, nil)), nil
}

// hashes returns the ids of numbers. Called with mu held.
func (g *Graph) hashes(numbers []int32) []plumbing.Hash {
	ids := make([]plumbing.Hash, len(numbers))
	for i, n := range numbers {
		ids[i] = g.hash(n)
	}
	return ids
}
