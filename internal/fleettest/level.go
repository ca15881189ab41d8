package fleettest

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/sync/eventlog"
)

// A Member is a machine as its judges see it: what it answers, and its home.
type Member struct {
	api.Agent
	Home paths.Home
}

// Member is the machine for the judges.
func (m *Machine) Member() Member { return Member{m.Agent, m.Home} }

// Uneven says what is not the same on all machines in a space, as each of them answers.
func Uneven(space string, questions []string, members ...Member) (faults []string) {
	var first []string
	for i, m := range members {
		view, err := viewOf(m, space, questions)
		if err != nil {
			return append(faults, fmt.Sprintf("machine %d: %v", i, err))
		}
		if i == 0 {
			first = view
			continue
		}
		for n := range max(len(first), len(view)) {
			if n >= len(first) || n >= len(view) || first[n] != view[n] {
				faults = append(faults, fmt.Sprintf("machine %d and the first differ: %q", i, around(view, first, n)))
				break
			}
		}
	}
	return faults
}

func around(a, b []string, n int) (lines []string) {
	for _, view := range [][]string{a, b} {
		if n < len(view) {
			lines = append(lines, view[n])
		} else {
			lines = append(lines, "nothing")
		}
	}
	return lines
}

// viewOf is all that a machine shows of a space: its head, every event with its state, and the answers to questions.
func viewOf(m Member, space string, questions []string) (view []string, err error) {
	ctx := context.Background()
	status, err := m.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range status.Spaces {
		if s.Name == space {
			view = append(view, fmt.Sprintf("head %s, %d events, %d indexed, %d ahead", s.Head, s.Events, s.Indexed, s.Ahead))
		}
	}
	list, err := m.Log(ctx, api.Query{Limit: 100_000, All: true, Filter: api.Filter{Space: space}})
	if err != nil {
		return nil, err
	}
	for _, h := range list.Hits {
		view = append(view, fmt.Sprintf("%s is %s, superseded by %q: %s", h.ID, h.State, h.SupersededBy, h.Text))
	}
	for _, q := range questions {
		answer, err := m.Ask(ctx, api.Query{Text: q, Limit: 50, Filter: api.Filter{Space: space}})
		if err != nil {
			return nil, err
		}
		for i, h := range answer.Hits {
			view = append(view, fmt.Sprintf("%q finds %s at place %d", q, h.ID, i))
		}
	}
	return view, nil
}

// A Saved is a note that was acknowledged.
type Saved struct {
	ID   event.ID
	Text string
}

// Doubled says which acknowledged notes are not exactly once in a machine's repository, redacted ones included.
func Doubled(m Member, space string, acked []Saved) (faults []string, err error) {
	texts, ids := map[string]int{}, map[event.ID]bool{}
	err = readRepository(m.Home.Space(space), space, func(s eventlog.Stored) error {
		texts[s.Event.Payload.Body()]++
		ids[s.ID] = true
		return s.Event.Verify()
	})
	for _, n := range acked {
		if !ids[n.ID] || texts[n.Text] != 1 {
			faults = append(faults, fmt.Sprintf("%s, %q, is there %d times", n.ID, n.Text, texts[n.Text]))
		}
	}
	return faults, err
}

// Digests says where the facts that stopped machines kept, or those that their logs hold, differ.
func Digests(space string, members ...Member) (faults []string, err error) {
	view := projection.View{Now: time.Now()}
	found := map[[32]byte][]string{}
	for i, m := range members {
		kept, _, err := projection.Load(disk.OS, m.Home.Facts(space))
		if err != nil {
			return nil, err
		}
		read, err := factsOf(m.Home.Space(space), space)
		if err != nil {
			return nil, err
		}
		for what, set := range map[string]*projection.Set{"kept": kept, "read": read} {
			d := set.Digest(view)
			found[d] = append(found[d], fmt.Sprintf("machine %d, %s: %d facts", i, what, set.Count()))
		}
	}
	if len(found) > 1 {
		faults = append(faults, fmt.Sprintf("%d projections: %v", len(found), slices.Collect(maps.Values(found))))
	}
	return faults, nil
}

// factsOf reads the facts of a repository from nothing.
func factsOf(dir, space string) (*projection.Set, error) {
	set := projection.NewSet()
	return set, readRepository(dir, space, func(s eventlog.Stored) error {
		set.Add(projection.FactOf(s.Event))
		return nil
	})
}

// readRepository calls fn with every event in a repository, past whoever uses it.
func readRepository(dir, space string, fn func(eventlog.Stored) error) error {
	l, err := eventlog.Open(disk.OS, dir, space)
	if err != nil {
		return err
	}
	defer l.Close()
	head, err := l.Head()
	if err != nil {
		return err
	}
	return l.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		if s.Err != nil {
			return s.Err
		}
		return fn(s)
	})
}

// HeadOf is the head of a repository that nobody need serve.
func HeadOf(dir, space string) (string, error) {
	l, err := eventlog.Open(disk.OS, dir, space)
	if err != nil {
		return "", err
	}
	defer l.Close()
	head, err := l.Head()
	return head.Commit.String(), err
}

// Unsound says what stock git finds wrong with repositories. Without stock git that is nothing.
func Unsound(dirs ...string) (faults []string) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		out, err := exec.Command(git, "-C", dir, "fsck", "--strict", "--full", "--no-dangling", "--no-progress").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "" {
			faults = append(faults, fmt.Sprintf("git fsck in %s: %v %s", filepath.Base(filepath.Dir(filepath.Dir(dir))), err, out))
		}
	}
	return faults
}
