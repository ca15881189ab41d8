package history

import (
	"bytes"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Ancestor reports whether the history of the commit of contains the commit a; every commit's own history contains it.
// A commit a that is not known is in no known history. The error is an *UnknownError if of is not known.
func (g *Graph) Ancestor(a, of plumbing.Hash) (bool, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	tip, err := g.known([]plumbing.Hash{of})
	if err != nil {
		return false, err
	}
	return g.reach(tip, g.some([]plumbing.Hash{a})), nil
}

// ReadyFor reports whether the history of each want contains one of the haves: then no more haves are needed to know
// what a pack for their owner can leave out. Haves that are not known count for nothing; a want that is not known is not
// ready.
func (g *Graph) ReadyFor(wants, haves []plumbing.Hash) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	tips, err := g.known(wants)
	return err == nil && g.reach(tips, g.some(haves))
}

// reach reports whether each of tips reaches one of the goals.
func (g *Graph) reach(tips, goals []int32) bool {
	if len(tips) == 0 || len(goals) == 0 {
		return len(tips) == 0
	}
	m := g.reaching(tips, goals)
	return !slices.ContainsFunc(tips, func(n int32) bool { return m.get(n)&reaches == 0 })
}

// reaching marks what reaches one of the goals, up to the greatest of tips: a commit does if it is a goal or a parent
// does.
func (g *Graph) reaching(tips, goals []int32) marks {
	m := g.marks()
	for _, n := range goals {
		m.add(n, reaches)
	}
	var room [2]int32
	for n := slices.Min(goals); n <= slices.Max(tips); n++ {
		for _, p := range g.parents(n, room[:0]) {
			m.add(n, m.get(p)&reaches)
		}
	}
	return m
}

// Between returns the commits in the history of the wants that are in that of none of the haves, parents before
// children. Haves that are not known are left aside. The error is an *UnknownError if a want is not known.
func (g *Graph) Between(wants, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	tips, err := g.known(wants)
	if err != nil {
		return nil, err
	}
	w := g.walk(theirs)
	for _, n := range g.some(haves) {
		w.mark(n, theirs)
	}
	for _, n := range tips {
		w.mark(n, left)
	}
	var found []int32
	for n, m := range w.down() {
		if m&theirs == 0 {
			found = append(found, n)
		}
		w.pass(n, m)
	}
	slices.Reverse(found)
	return g.hashes(found), nil
}

// Following returns those of commits whose history contains base, in the order given. The error is an *UnknownError.
func (g *Graph) Following(base plumbing.Hash, commits []plumbing.Hash) ([]plumbing.Hash, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	numbers, err := g.known(append(slices.Clone(commits), base))
	if err != nil {
		return nil, err
	}
	m := g.reaching(numbers, numbers[len(commits):])
	var found []plumbing.Hash
	for i, n := range numbers[:len(commits)] {
		if m.get(n)&reaches != 0 {
			found = append(found, commits[i])
		}
	}
	return found, nil
}

// MergeBases returns the best common ancestors of two commits: those that are not ancestors of others, in the order of
// their ids. There is none if the histories are unrelated. The error is an *UnknownError.
func (g *Graph) MergeBases(a, b plumbing.Hash) ([]plumbing.Hash, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	tips, err := g.known([]plumbing.Hash{a, b})
	if err != nil {
		return nil, err
	}
	w := g.walk(below)
	w.mark(tips[0], left)
	w.mark(tips[1], right)
	var found []int32
	for n, m := range w.down() {
		if m == left|right {
			found = append(found, n)
			m |= below
		}
		w.pass(n, m)
	}
	bases := g.hashes(found)
	slices.SortFunc(bases, func(x, y plumbing.Hash) int { return bytes.Compare(x[:], y[:]) })
	return bases, nil
}

// Sample returns at most limit commits by which another repository can be asked what it has in common with this one:
// the tips, then older ones ever further apart, and the oldest one. All are known with their whole history, and none
// can reach a tip. It takes the same time however long the history is. Tips that are not known are left aside.
func (g *Graph) Sample(tips []plumbing.Hash, limit int) []plumbing.Hash {
	g.mu.RLock()
	defer g.mu.RUnlock()
	heads := g.some(tips)
	if len(heads) == 0 || limit < 1 {
		return nil
	}
	found := slices.Clone(heads[:min(len(heads), limit)])
	oldest := slices.Min(heads)
	for step := int32(1); oldest > step && len(found) < limit-1; step *= 2 {
		found = append(found, oldest-step)
	}
	if len(found) < limit && !slices.Contains(found, 0) {
		found = append(found, 0)
	}
	return g.hashes(found)
}
