package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/corpus"
	"cairn/internal/cputime"
	"cairn/internal/measure"
)

// team is the space that is shared.
const team = "team"

// syncing measures a hub in a process of its own with two machines in this
// one.
func syncing(w *work) error {
	h, err := w.startHub()
	if err != nil {
		return err
	}
	a, err := w.joined(h, "laptop")
	if err != nil {
		return err
	}
	if err := w.stock(a, team); err != nil {
		return err
	}
	if err := w.settled(a); err != nil {
		return err
	}
	b, err := w.joined(h, "desktop")
	if err != nil {
		return err
	}
	if err := w.settled(b); err != nil {
		return err
	}
	if err := w.journeys(a, b); err != nil {
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	return w.pushes(h, a)
}

// A hubProcess is a hub that serves on a loopback port.
type hubProcess struct {
	*process
	data string
	addr string
}

func (w *work) startHub() (*hubProcess, error) {
	h := &hubProcess{data: filepath.Join(w.dir, "hub")}
	if _, err := hub.Init(w.ctx, h.data); err != nil {
		return nil, err
	}
	err := h.admin(func(a *admin.Admin) error {
		_, err := a.CreateSpace(w.ctx, admin.Caller{}, team)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.process, err = w.start(interrupt, "hub", "serve", "--data", h.data, "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return h, until(w.ctx, "the hub listens", func() (bool, error) {
		line, whole := firstLine(h.said.String())
		addr, _, _ := strings.Cut(strings.TrimPrefix(line, "listening on "), ",")
		h.addr = addr
		return whole, h.alive()
	})
}

func firstLine(s string) (line string, whole bool) {
	line, _, _ = strings.Cut(s, "\n")
	return line, strings.HasPrefix(line, "listening on ") && strings.Contains(line, ", host key ")
}

// admin opens the hub's folder beside the process that serves it.
func (h *hubProcess) admin(do func(*admin.Admin) error) (err error) {
	beside, err := hub.Open(h.data, hub.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, beside.Close()) }()
	return do(beside.Admin())
}

// joined is a machine that shares the hub's space.
func (w *work) joined(h *hubProcess, name string) (*machine, error) {
	home, err := w.makeHome(name)
	if err != nil {
		return nil, err
	}
	m, err := w.own(home)
	if err != nil {
		return nil, err
	}
	w.progress("the %s joins", name)
	return m, h.admin(func(a *admin.Admin) error {
		i, err := a.Invite(w.ctx, admin.Caller{}, admin.InviteRequest{
			Person: "bench", Spaces: []string{team}, Role: devices.Write, Addr: h.addr,
		})
		if err != nil {
			return err
		}
		_, err = m.Join(w.ctx, i.Invite)
		return err
	})
}

// settled waits until a machine has nothing left to send or to index.
func (w *work) settled(m *machine) error {
	w.progress("waiting until everything is sent and indexed")
	return w.untilSpace(m, func(s api.SpaceStatus) bool {
		return s.Ahead == 0 && s.Indexed == s.Events && s.Events >= w.opt.Notes
	})
}

// pushed waits until the hub has everything of a machine.
func (w *work) pushed(m *machine) error {
	return w.untilSpace(m, func(s api.SpaceStatus) bool { return s.Ahead == 0 })
}

func (w *work) untilSpace(m *machine, holds func(api.SpaceStatus) bool) error {
	return until(w.ctx, "the machines and the hub are level", func() (bool, error) {
		s, err := m.Status(w.ctx)
		if err != nil {
			return false, err
		}
		at := slices.IndexFunc(s.Spaces, func(s api.SpaceStatus) bool { return s.Name == team })
		return at >= 0 && holds(s.Spaces[at]), nil
	})
}

// journeys measures from the moment a note is given to the agent on one
// machine until a search on the other finds it.
func (w *work) journeys(a, b *machine) error {
	var times measure.Times
	for i := range w.opt.Runs {
		w.progress("a note travels: %d of %d", i, w.opt.Runs)
		word := markWord(i)
		began := time.Now()
		r, err := remember(w.ctx, a, draft(corpus.Note{Text: "the mark of this journey is " + word}, team))
		if err != nil {
			return err
		}
		err = until(w.ctx, "the note is found", func() (bool, error) {
			answer, err := b.Ask(w.ctx, api.Query{Text: word, Limit: 1})
			return len(answer.Hits) == 1 && answer.Hits[0].ID == r.ID, err
		})
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	w.rows(measure.NewRow("saved here, found there", times))
	return nil
}

// markWord is a word that no note has, nor one that is only a typing error
// away.
func markWord(i int) string {
	word := "zq"
	for range 6 {
		word += strings.Repeat(string(rune('a'+i%10)), 2)
		i /= 10
	}
	return word
}

// fewerPushes says that the second half does a quarter of the runs: each of
// them is a push by git, too.
const fewerPushes = 4

// pushes measures what one event more costs the hub, and beside it, with the
// very same commits, stock git on a repository with the same history.
func (w *work) pushes(h *hubProcess, a *machine) error {
	if _, err := cputime.Of(h.cmd.Process.Pid); errors.Is(err, cputime.ErrUnknown) {
		w.remark("what a push costs the hub is not measured here: %v", err)
		return nil
	} else if err != nil {
		return err
	}
	git, err := w.stockGit(a.home.Space(team))
	if err != nil {
		return err
	}
	var ours, theirs measure.Times
	n := max(1, w.opt.Runs/fewerPushes)
	for i, note := range w.moreNotes(n) {
		w.progress("pushing: %d of %d", i, n)
		commit, took, err := w.push(h, a, note)
		if err != nil {
			return err
		}
		ours = append(ours, took)
		if git == nil {
			continue
		}
		if took, err = git.push(w.ctx, commit); err != nil {
			return err
		}
		theirs = append(theirs, took)
	}
	peer := measure.NewRow("git receive-pack, CPU for one push", theirs)
	w.rows(measure.NewRow("hub, CPU for one push", ours).Beside(peer))
	if git != nil {
		w.rows(peer)
	}
	return nil
}

// push saves a note, which sends itself, and says what that cost the hub.
func (w *work) push(h *hubProcess, a *machine, n corpus.Note) (commit string, took time.Duration, err error) {
	before, err := cputime.Of(h.cmd.Process.Pid)
	if err != nil {
		return "", 0, err
	}
	r, err := remember(w.ctx, a, draft(n, team))
	if err != nil {
		return "", 0, err
	}
	if err := w.pushed(a); err != nil {
		return "", 0, fmt.Errorf("push a note: %w", err)
	}
	after, err := cputime.Of(h.cmd.Process.Pid)
	return r.Commit, after - before, err
}
