package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/policy/roster"
)

// rosterFile is the signed list of devices, as it was made last.
const rosterFile = "roster.json"

// A signer keeps the signed list of devices level with the members.
type signer struct {
	mu   sync.Mutex
	of   *devices.Members // for which the list below is
	list roster.Roster
}

// roster is the signed list for the members. A new one gets the next number: by
// the clock, so that a hub that was restored from a backup gives no number for
// the second time.
func (h *Hub) roster(m *devices.Members) (roster.Roster, error) {
	h.signer.mu.Lock()
	defer h.signer.mu.Unlock()
	if h.signer.of == m {
		return h.signer.list, nil
	}
	last, err := h.lastRoster()
	if err != nil {
		return roster.Roster{}, err
	}
	list := listed(m)
	if last.Number == 0 || !slices.Equal(last.Devices, list) {
		last = roster.New(h.id.Hub, max(last.Number+1, h.now().UnixMilli()), list, h.key)
		if err := atomicfile.Write(h.fs, h.rosterPath(), roster.Encode(last), 0o600); err != nil {
			return roster.Roster{}, fmt.Errorf("keep the list of devices: %w", err)
		}
	}
	h.signer.of, h.signer.list = m, last
	return last, nil
}

// lastRoster is what was signed last; the zero Roster if there is none, or none
// that can be read.
func (h *Hub) lastRoster() (roster.Roster, error) {
	b, err := disk.ReadFile(h.fs, h.rosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return roster.Roster{}, nil
	}
	if err != nil {
		return roster.Roster{}, fmt.Errorf("read the list of devices: %w", err)
	}
	r, err := roster.Decode(b, h.id.Hub, h.key.Public())
	if err != nil {
		h.log.Warn("the list of devices is damaged and made anew", "err", err)
		return roster.Roster{}, nil
	}
	return r, nil
}

func (h *Hub) rosterPath() string { return filepath.Join(h.dir, rosterFile) }

func listed(m *devices.Members) []roster.Device {
	var list []roster.Device
	for _, d := range m.Devices() {
		list = append(list, roster.Device{ID: d.ID, Person: d.Person, Revoked: d.Revoked != nil})
	}
	slices.SortFunc(list, func(a, b roster.Device) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

// told is what the hub's adverts say of it.
func (h *Hub) told(at pass) ([]string, error) {
	r, err := h.roster(at.Members)
	return hubwire.Told{Policy: at.mark, Roster: r.Number}.Caps(), err
}

func (h *Hub) tellRoster(s *sshdoor.Session) error {
	m, err := h.members.Now()
	if err != nil {
		return err
	}
	r, err := h.roster(m)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.Stream).Encode(hubwire.RosterAnswer{Key: h.key.Public(), Roster: roster.Encode(r)})
}
