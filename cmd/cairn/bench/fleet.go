package bench

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
)

// team is the space that is shared.
const team = "team"

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
		after, _ := strings.CutPrefix(h.said.String(), "listening on ")
		addr, _, ready := strings.Cut(after, ", host key ")
		h.addr = addr
		return ready, h.alive()
	})
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
func (w *work) settled(m api.Agent) error {
	w.progress("waiting until everything is sent and indexed")
	return w.untilSpace(m, func(s api.SpaceStatus) bool {
		return s.Ahead == 0 && s.Indexed == s.Events && s.Events >= w.opt.Notes
	})
}

// pushed waits until the hub has everything of a machine.
func (w *work) pushed(m api.Agent) error {
	return w.untilSpace(m, func(s api.SpaceStatus) bool { return s.Ahead == 0 })
}

func (w *work) untilSpace(m api.Agent, holds func(api.SpaceStatus) bool) error {
	return w.untilIn(team, m, holds)
}

func (w *work) untilIn(space string, m api.Agent, holds func(api.SpaceStatus) bool) error {
	return until(w.ctx, "all of it is sent and indexed", func() (bool, error) {
		s, err := m.Status(w.ctx)
		if err != nil {
			return false, err
		}
		at := slices.IndexFunc(s.Spaces, func(s api.SpaceStatus) bool { return s.Name == space })
		return at >= 0 && holds(s.Spaces[at]), nil
	})
}
