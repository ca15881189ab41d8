package bench

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"cairn/agent/api"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/corpus"
	"cairn/internal/cputime"
	"cairn/internal/measure"
	"cairn/internal/memuse"
	"cairn/internal/paths"
)

// hubbing measures a hub and its machines, each in a process of its own: a long
// history pushed at once, a new machine that gets it, single notes after that,
// and many watchers. Stock git does the same beside it, without a network.
func hubbing(w *work) error {
	if _, err := memuse.Of(os.Getpid()); errors.Is(err, memuse.ErrUnknown) {
		w.remark("this needs the processor time and the memory of other processes: %v", err)
		return nil
	}
	h, err := w.startHub()
	if err != nil {
		return err
	}
	first, err := w.bulkPush(h)
	if err != nil {
		return err
	}
	git, err := w.stockGit(first.home.Space(team))
	if err != nil {
		return err
	}
	if git != nil {
		if err := w.gitBulk(git); err != nil {
			return err
		}
	}
	second, err := w.cloning(h)
	if err != nil {
		return err
	}
	if git != nil {
		if err := w.gitClone(git); err != nil {
			return err
		}
	}
	if err := w.singles(h, first, second, git); err != nil {
		return err
	}
	return w.watchers(h, first)
}

// An agentProcess is a machine in a process of its own.
type agentProcess struct {
	api.Agent
	home paths.Home
	pid  int
}

func (w *work) agentProcess(home paths.Home) (*agentProcess, error) {
	client, err := w.startAgent(home)
	if err != nil {
		return nil, err
	}
	s, err := client.Status(w.ctx)
	return &agentProcess{client, home, s.Agent.PID}, err
}

// A cost is what several processes took for something.
type cost struct {
	wall time.Duration
	cpu  []time.Duration
	peak []int64
}

// costOf does something and says what it cost the processes.
func costOf(pids []int, do func() error) (c cost, err error) {
	before := make([]time.Duration, len(pids))
	for i, pid := range pids {
		if before[i], err = cputime.Of(pid); err != nil {
			return c, err
		}
		if err := memuse.ForgetPeak(pid); err != nil {
			return c, err
		}
	}
	if c.wall, err = timed(do); err != nil {
		return c, err
	}
	for i, pid := range pids {
		after, err := cputime.Of(pid)
		if err != nil {
			return c, err
		}
		use, err := memuse.Of(pid)
		if err != nil {
			return c, err
		}
		c.cpu, c.peak = append(c.cpu, after-before[i]), append(c.peak, use.Peak)
	}
	return c, nil
}

// bulkPush is a machine that joins with a space it has filled before.
func (w *work) bulkPush(h *hubProcess) (*agentProcess, error) {
	home, err := w.makeHome("laptop")
	if err != nil {
		return nil, err
	}
	m, err := w.own(home)
	if err != nil {
		return nil, err
	}
	if err := m.CreateSpace(w.ctx, team); err != nil {
		return nil, err
	}
	if err := w.stock(m, team); err != nil {
		return nil, err
	}
	if err := m.close(); err != nil {
		return nil, err
	}
	a, err := w.agentProcess(home)
	if err != nil {
		return nil, err
	}
	if err := w.settled(a); err != nil {
		return nil, err
	}
	c, err := costOf([]int{h.cmd.Process.Pid, a.pid}, func() error {
		if err := w.join(h, a); err != nil {
			return err
		}
		w.progress("pushing everything")
		return w.pushed(a)
	})
	if err != nil {
		return nil, err
	}
	w.costRows("first push of everything", c, "hub", "agent")
	return a, nil
}

func (w *work) join(h *hubProcess, a api.Agent) error {
	return h.admin(func(beside *admin.Admin) error {
		i, err := beside.Invite(w.ctx, admin.Caller{}, admin.InviteRequest{
			Person: "bench", Spaces: []string{team}, Role: devices.Write, Addr: h.addr,
		})
		if err != nil {
			return err
		}
		_, err = a.Join(w.ctx, i.Invite)
		return err
	})
}

// costRows are the rows and amounts of a cost; who names the processes.
func (w *work) costRows(what string, c cost, who ...string) {
	w.rows(measure.NewRow(what, measure.Times{c.wall}))
	for i, name := range who {
		w.rows(measure.NewRow(what+", CPU of the "+name, measure.Times{c.cpu[i]}))
		w.amounts(megabytes(what+", memory of the "+name, c.peak[i]))
	}
}

// gitRows are the same for the two sides of a git.
func (w *work) gitRows(what string, client, server gitRun) {
	w.rows(measure.NewRow(what, measure.Times{client.Wall}),
		measure.NewRow(what+", CPU of the other side", measure.Times{server.CPU}),
		measure.NewRow(what+", CPU of the client", measure.Times{client.CPU}))
	w.amounts(megabytes(what+", memory of the other side", server.Peak), megabytes(what+", memory of the client", client.Peak))
}

// gitBulk pushes everything to a fresh repository.
func (w *work) gitBulk(g *stockGit) error {
	w.progress("pushing everything with git")
	fresh := stockGit{g.gitProgram, g.from, filepath.Join(w.dir, "fresh.git")}
	if _, err := g.run(w.ctx, nil, "init", "--quiet", "--bare", fresh.bare); err != nil {
		return err
	}
	client, server, err := fresh.push(w.ctx, "refs/heads/main")
	if err == nil {
		w.gitRows("git push of everything", client, server)
	}
	return err
}

// cloning is a fresh machine that joins, and has everything and can find it.
func (w *work) cloning(h *hubProcess) (*agentProcess, error) {
	home, err := w.makeHome("desktop")
	if err != nil {
		return nil, err
	}
	a, err := w.agentProcess(home)
	if err != nil {
		return nil, err
	}
	w.progress("a second machine joins")
	c, err := costOf([]int{h.cmd.Process.Pid, a.pid}, func() error { return w.join(h, a) })
	if err != nil {
		return nil, err
	}
	w.costRows("second machine joins", c, "hub", "agent")
	indexed, err := timed(func() error { return w.settled(a) })
	w.rows(measure.NewRow("until all of it is indexed", measure.Times{indexed}))
	return a, err
}

func (w *work) gitClone(g *stockGit) error {
	w.progress("cloning with git")
	line, report := g.other("upload-pack")
	client, err := g.run(w.ctx, nil, "clone", "--quiet", "--bare", "--no-local", "--upload-pack="+line, g.bare, filepath.Join(w.dir, "clone.git"))
	if err != nil {
		return err
	}
	server, err := readReport(report)
	if err == nil {
		w.gitRows("git clone", client, server)
	}
	return err
}

// singles are notes one by one, from one machine by way of the hub to the
// other.
func (w *work) singles(h *hubProcess, from, to *agentProcess, git *stockGit) error {
	var hubs, senders, receivers, gits measure.Times
	for i, note := range w.moreNotes(w.opt.Runs) {
		w.progress("a note travels: %d of %d", i, w.opt.Runs)
		var commit string
		c, err := costOf([]int{h.cmd.Process.Pid, from.pid, to.pid}, func() (err error) {
			commit, err = w.travel(from, to, note)
			return err
		})
		if err != nil {
			return err
		}
		hubs, senders, receivers = append(hubs, c.cpu[0]), append(senders, c.cpu[1]), append(receivers, c.cpu[2])
		if git == nil {
			continue
		}
		_, server, err := git.push(w.ctx, commit)
		if err != nil {
			return err
		}
		gits = append(gits, server.CPU)
	}
	peer := measure.NewRow("git receive-pack, CPU for one note", gits)
	w.rows(measure.NewRow("hub, CPU for one note in and out", hubs).Beside(peer),
		measure.NewRow("sender, CPU for one note", senders), measure.NewRow("receiver, CPU for one note", receivers))
	if git != nil {
		w.rows(peer)
	}
	return nil
}

// travel saves a note and waits until the other machine has indexed it.
func (w *work) travel(from, to api.Agent, n corpus.Note) (commit string, err error) {
	r, err := remember(w.ctx, from, draft(n, team))
	if err != nil {
		return "", err
	}
	return r.Commit, w.untilSpace(to, func(s api.SpaceStatus) bool { return s.Head == r.Commit && s.Indexed == s.Events })
}
