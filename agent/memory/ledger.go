package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/sync/eventlog"
)

// maxRefused is how many refusals are kept, the newest.
const maxRefused = 1000

// A ledger keeps, in one file that several processes share, what a gate
// refused and which events in the logs must not be shown. It never holds a
// text.
type ledger struct {
	fsys disk.FS
	path string

	mu     sync.RWMutex
	hidden map[string]map[event.ID]bool // as in the file when it was last read
	turns  int                          // how often it was another one then
}

// pages is the file.
type pages struct {
	Refused  []api.Refusal         `json:"refused"`
	Withheld map[string][]event.ID `json:"withheld,omitempty"` // by space
}

func openLedger(fsys disk.FS, path string) (*ledger, error) {
	l := &ledger{fsys: fsys, path: path}
	_, err := l.read()
	return l, err
}

func (l *ledger) read() (pages, error) {
	p := pages{Withheld: map[string][]event.ID{}}
	b, err := disk.ReadFile(l.fsys, l.path)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pages{}, &problem.Problem{
			Code: problem.Corrupt, Message: fmt.Sprintf("the list of refused notes cannot be read: %v", err), Err: err,
			Hint: "move " + l.path + " away; the notes themselves are not in it",
		}
	}
	hidden := map[string]map[event.ID]bool{}
	for space, ids := range p.Withheld {
		hidden[space] = setOf(ids)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !maps.EqualFunc(l.hidden, hidden, maps.Equal[map[event.ID]bool]) {
		l.hidden, l.turns = hidden, l.turns+1
	}
	return p, nil
}

// withheld says whether an event must be neither found nor shown.
func (l *ledger) withheld(space string, id event.ID) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.hidden[space][id]
}

// hiddenTurn is another number after other events are withheld than before.
func (l *ledger) hiddenTurn() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.turns
}

// change reads the file, changes it and writes it, alone among all processes.
func (l *ledger) change(ctx context.Context, fn func(*pages) error) (err error) {
	lock, err := disk.Lock(ctx, l.path+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	p, err := l.read()
	if err != nil {
		return err
	}
	if err := fn(&p); err != nil {
		return err
	}
	p.Refused = p.Refused[max(len(p.Refused)-maxRefused, 0):]
	if err := atomicfile.WriteJSON(l.fsys, l.path, p, " ", 0o600); err != nil {
		return err
	}
	_, err = l.read()
	return err
}

// refuse makes err a problem and, if a gate refused the event, a line of the
// list. A list that cannot be written changes nothing about the refusal.
func (s *Service) refuse(e event.Event, space string, err error) error {
	p := problem.Of(Problem(err))
	switch p.Code {
	case problem.Secret, problem.Policy, problem.TooBig, problem.NotUTF8:
	default:
		return p
	}
	line := api.Refusal{
		ID: e.ID, At: event.NewTime(s.opt.Now()), Space: space, Kind: e.Kind, By: "machine",
		Rule: p.Rule, Field: p.Field, Hint: p.Hint,
	}
	if refused, ok := errors.AsType[*policy.RefusedError](err); ok {
		line.Fingerprint = refused.Fingerprint()
	}
	if err := s.AddRefusals(s.ctx, line); err != nil {
		s.troubled(err)
	}
	return p
}

// AddRefusals puts lines on the list of what was refused, such as those that
// a hub named.
func (s *Service) AddRefusals(ctx context.Context, lines ...api.Refusal) error {
	return Problem(s.ledger.change(ctx, func(p *pages) error {
		p.Refused = append(p.Refused, lines...)
		return nil
	}))
}

// Forget takes events of a space off the lists for which gone is true: they
// left it for good.
func (s *Service) Forget(ctx context.Context, space string, gone func(event.ID) bool) error {
	listed := func(r api.Refusal) bool { return r.Space == space && gone(r.ID) }
	p, err := s.ledger.read()
	if err != nil {
		return Problem(err)
	}
	if !slices.ContainsFunc(p.Refused, listed) && !slices.ContainsFunc(p.Withheld[space], gone) {
		return nil
	}
	return Problem(s.ledger.change(ctx, func(p *pages) error {
		p.Refused = slices.DeleteFunc(p.Refused, listed)
		p.Withheld[space] = slices.DeleteFunc(p.Withheld[space], gone)
		return nil
	}))
}

// Refused lists what a gate refused, oldest first.
func (s *Service) Refused(context.Context) ([]api.Refusal, error) {
	p, err := s.ledger.read()
	return p.Refused, err
}

// Dismiss takes the refusal of an event off the list. ref is its id, or six or
// more characters of its start or end. Withheld events stay withheld.
func (s *Service) Dismiss(ctx context.Context, ref string) error {
	digits := strings.ToLower(strings.TrimPrefix(ref, "~"))
	if len(digits) < projection.MinRef {
		return Problem(projection.ErrShort)
	}
	return Problem(s.ledger.change(ctx, func(p *pages) error {
		before := len(p.Refused)
		p.Refused = slices.DeleteFunc(p.Refused, func(r api.Refusal) bool {
			return strings.HasPrefix(string(r.ID), digits) || strings.HasSuffix(string(r.ID), digits)
		})
		if len(p.Refused) == before {
			return problem.New(problem.NotFound, "nothing on the list of refused notes has this id")
		}
		return nil
	}))
}

// Withhold hides events of a log in which a rule found something that must not
// be shown, though they are in the history already: they are taken out of the
// index, not shown, and listed as refused.
func (s *Service) Withhold(ctx context.Context, spaceName string, found ...api.Refusal) error {
	sp, err := s.space(spaceName)
	if err != nil {
		return err
	}
	var ids []event.ID
	err = s.ledger.change(ctx, func(p *pages) error {
		known := setOf(p.Withheld[spaceName])
		for _, r := range found {
			if !known[r.ID] {
				known[r.ID] = true
				p.Withheld[spaceName] = append(p.Withheld[spaceName], r.ID)
				p.Refused = append(p.Refused, r)
				ids = append(ids, r.ID)
			}
		}
		return nil
	})
	if err != nil || len(ids) == 0 {
		return Problem(err)
	}
	if err := sp.kept.Drop(ctx, ids); err != nil {
		s.troubled(err) // hidden all the same: every answer asks the ledger
	}
	return nil
}

// Withheld says whether an event is withheld.
func (s *Service) Withheld(space string, id event.ID) bool { return s.ledger.withheld(space, id) }

// GiveBack shows events again that were withheld: they are found, and are on no
// list any more.
func (s *Service) GiveBack(ctx context.Context, spaceName string, ids ...event.ID) error {
	sp, err := s.space(spaceName)
	if err != nil {
		return err
	}
	back := setOf(ids)
	if !slices.ContainsFunc(ids, func(id event.ID) bool { return s.ledger.withheld(spaceName, id) }) {
		return nil
	}
	err = s.ledger.change(ctx, func(p *pages) error {
		p.Withheld[spaceName] = slices.DeleteFunc(p.Withheld[spaceName], func(id event.ID) bool { return back[id] })
		p.Refused = slices.DeleteFunc(p.Refused, func(r api.Refusal) bool { return r.Space == spaceName && r.By == "machine" && back[r.ID] })
		return nil
	})
	if err != nil {
		return Problem(err)
	}
	if err := sp.restore(ctx, ids); err != nil {
		s.troubled(err) // the next rebuild has them
	}
	return nil
}

// restore puts events into the index again.
func (sp *space) restore(ctx context.Context, ids []event.ID) error {
	head, err := sp.log.Head()
	if err != nil {
		return err
	}
	var events []event.Event
	for _, id := range ids {
		stored, err := sp.log.Event(head.Tree, id)
		if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
			return err
		}
		if err == nil && stored.Err == nil {
			events = append(events, stored.Event)
		}
	}
	return sp.kept.Restore(ctx, events)
}

func setOf(ids []event.ID) map[event.ID]bool {
	set := make(map[event.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
