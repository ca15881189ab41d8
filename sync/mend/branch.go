package mend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/intake"
)

// branch puts back the branch if it is garbled or missing and it is certain
// where it was.
func (m *mender) branch(ctx context.Context) error {
	_, lost := m.store.Ref(event.MainRef)
	if lost == nil {
		return nil
	}
	if !isRefDamage(lost) {
		return lost
	}
	what := "the branch is lost: " + lost.Error()
	s, err := m.search(ctx)
	if err != nil {
		return err
	}
	head, commits, why, err := s.certain(ctx)
	if err != nil {
		return err
	}
	if why == "" && m.unsure != nil {
		why = "what was purged is not known: " + m.unsure.Error()
	}
	if why != "" {
		m.lacking = m.lacking || s.gone > 0 || len(s.heads) == 0
		m.add(what+"; "+why, "", m.commands(s, lost))
		return nil
	}
	if err := m.store.RestoreRef(event.MainRef, head); err != nil {
		return err
	}
	m.add(what, fmt.Sprintf("it is at commit %s again, which continues everything known of it, with %d commits that all verify", head, commits), "")
	return nil
}

// commands are what a person would run for each head that is possible. Git sets
// no ref whose file is garbled: that has to go first.
func (m *mender) commands(s *search, lost error) string {
	var lines []string
	for _, h := range s.heads {
		lines = append(lines, "git -C "+m.opt.Dir+" update-ref "+event.MainRef+" "+h.String())
	}
	if len(lines) == 0 {
		return "nothing was changed; put the repository " + m.opt.Dir + " back from a backup, or join the hub that has the space"
	}
	first := ""
	if garbled, ok := errors.AsType[*gitstore.GarbledRefError](lost); ok {
		first = "delete " + garbled.Path + ", then "
	}
	return "nothing was changed; if you know which commit is right: " + first + strings.Join(lines, " or ")
}

// A search looks for the commit that the branch was at.
type search struct {
	store *gitstore.Store
	name  string
	graph *history.Graph
	known []plumbing.Hash // commits that the branch has been at, or is behind
	gone  int             // of them that are not stored
	heads []plumbing.Hash // ends of histories of this space, the newest first
}

// maxHeads is how many possible heads are told.
const maxHeads = 3

func (m *mender) search(ctx context.Context) (*search, error) {
	known, err := m.known()
	if err != nil {
		return nil, err
	}
	s := &search{store: m.store, name: m.opt.Name, graph: history.New(m.store), known: known}
	ends, err := s.ends(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range s.known {
		if !s.graph.Has(h) {
			s.gone++
		}
	}
	for _, h := range ends {
		held, err := m.gone.InCommit(m.store, h)
		if err != nil {
			return nil, err
		}
		fits, err := s.continues(h)
		if err != nil {
			return nil, err
		}
		if fits && len(held) == 0 {
			s.heads = append(s.heads, h)
		}
	}
	return s, nil
}

// ends are the commits of this space that no other commit follows, newest
// first. A commit whose history is not whole is none.
func (s *search) ends(ctx context.Context) ([]plumbing.Hash, error) {
	commits, err := s.store.Commits(ctx)
	if err != nil {
		return nil, err
	}
	when := map[plumbing.Hash]int64{}
	followed := map[plumbing.Hash]bool{}
	for _, h := range commits {
		c, err := history.ReadCommit(s.store, h)
		if unusable(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		when[h] = c.Seconds
		for _, p := range c.Parents {
			followed[p] = true
		}
	}
	var ends []plumbing.Hash
	for h := range when {
		if followed[h] {
			continue
		}
		if err := s.graph.Add(h); unusable(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		if s.ofThisSpace(h) {
			ends = append(ends, h)
		}
	}
	slices.SortFunc(ends, func(a, b plumbing.Hash) int {
		return cmp.Or(cmp.Compare(when[b], when[a]), strings.Compare(a.String(), b.String()))
	})
	return ends, nil
}

// unusable says that the fault is in what is stored, and not in reading it.
func unusable(err error) bool {
	_, malformed := errors.AsType[*history.MalformedError](err)
	return malformed || err != nil && isObjectDamage(err)
}

func (s *search) ofThisSpace(h plumbing.Hash) bool {
	space, err := s.space(h)
	return err == nil && space.Name == s.name
}

func (s *search) space(h plumbing.Hash) (commitform.Space, error) {
	tree, err := s.graph.Tree(h)
	if err != nil {
		return commitform.Space{}, err
	}
	return eventlog.SpaceAt(s.store, tree)
}

// continues says whether the history of h holds all that is known and stored.
func (s *search) continues(h plumbing.Hash) (bool, error) {
	for _, k := range s.known {
		if !s.graph.Has(k) {
			continue
		}
		if in, err := s.graph.Ancestor(k, h); err != nil || !in {
			return false, err
		}
	}
	return true, nil
}

// certain is the one commit that the branch can have been at, and how many lead
// to it; or why there is no such certainty.
func (s *search) certain(ctx context.Context) (head plumbing.Hash, commits int, why string, err error) {
	switch {
	case len(s.heads) == 0:
		return head, 0, "no history of this space is stored whole", nil
	case s.gone > 0:
		return head, 0, "a commit that it was at is not stored any more", nil
	case len(s.heads) > 1:
		n := len(s.heads)
		s.heads = s.heads[:min(n, maxHeads)]
		return head, 0, fmt.Sprintf("%d commits could be its end", n), nil
	}
	report, why, err := s.verify(ctx, s.heads[0])
	return s.heads[0], report.Commits, why, err
}

// verify makes every commit that leads to head again and compares; why says
// what is not as it should be.
func (s *search) verify(ctx context.Context, head plumbing.Hash) (report intake.Report, why string, err error) {
	space, err := s.space(head)
	if err != nil {
		return report, "", err
	}
	report, err = intake.Check(ctx, everything{s.store, map[plumbing.Hash]int{}}, []plumbing.Hash{head}, intake.Options{Space: space, KeepNewer: true})
	switch {
	case err != nil && isObjectDamage(err):
		return report, "its history is not whole: " + err.Error(), nil
	case err == nil && len(report.Findings) > 0:
		return report, "its history is not what cairn writes, by rule " + report.Findings[0].Rule, nil
	}
	return report, "", err
}

// everything takes all that is stored for something that has just arrived and
// was never looked at. It is for one goroutine.
type everything struct {
	*gitstore.Store
	numbers map[plumbing.Hash]int
}

// Number numbers objects as they are asked for.
func (e everything) Number(h plumbing.Hash) (int, bool) {
	n, known := e.numbers[h]
	if !known {
		n = len(e.numbers)
		e.numbers[h] = n
	}
	return n, true
}

// Each has no object to show that no commit needs.
func (everything) Each(context.Context, func(gitstore.Object) error) error { return nil }
