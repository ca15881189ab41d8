package fleettest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/audit"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

// missing says which notes are not exactly once on each device.
func (s *storm) missing(acked []fleettest.Saved) (faults []string) {
	for i, m := range s.honest {
		list, err := fleettest.Doubled(m.Member(), "team", acked)
		if err != nil {
			return []string{err.Error()}
		}
		for _, fault := range list {
			faults = append(faults, fmt.Sprintf("device %d: %s", i, fault))
		}
	}
	return faults
}

// landed says what lies at the hub that is not one of these notes.
func (s *storm) landed(acked []fleettest.Saved) (faults []string) {
	dir := filepath.Join(s.f.HubDir(), "spaces", "team.git")
	store, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		return []string{err.Error()}
	}
	defer store.Close()
	ids, err := store.IDs()
	if err != nil {
		return []string{err.Error()}
	}
	for _, id := range ids {
		o, err := store.Object(id)
		if err != nil || bytes.Contains(o.Data, []byte(hostileMark)) {
			faults = append(faults, fmt.Sprintf("the object %s is a foe's, or damaged: %v", id, err))
		}
	}
	mine := map[event.ID]bool{}
	for _, n := range acked {
		mine[n.ID] = true
	}
	for _, e := range s.events("team") {
		if !mine[e.ID] {
			faults = append(faults, fmt.Sprintf("the event %s of %s is nobody's", e.ID, e.Actor.Device))
		}
		delete(mine, e.ID)
	}
	for id := range mine {
		faults = append(faults, fmt.Sprintf("the event %s is not there", id))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "objects", "incoming", "*")); err != nil || len(left) > 0 {
		faults = append(faults, fmt.Sprintf("left in quarantine: %v %v", left, err))
	}
	return append(faults, fleettest.Unsound(dir)...)
}

// events are those in a shared space of the hub, read from its disk.
func (s *storm) events(space string) (list []event.Event) {
	s.t.Helper()
	l, err := eventlog.Open(disk.OS, filepath.Join(s.f.HubDir(), "spaces", space+".git"), space)
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	head, err := l.Head()
	if err == nil {
		err = l.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(e eventlog.Stored) error {
			list = append(list, e.Event)
			return e.Err
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// A told is what audit events are counted by.
type told struct {
	person, rule string
	hour         time.Time
}

// recorded says what is wrong with the records of pushes: a rule that is broken by an attack and that nobody wrote down,
// or more audit events in an hour about one person and one rule than most, or none where there is a record.
func (s *storm) recorded(want map[string]string, most int) (faults []string) {
	list := s.records()
	logged := map[told]int{}
	for _, r := range list {
		if len(r.Rules) > 0 && r.Verdict != audit.Refused {
			faults = append(faults, fmt.Sprintf("what broke a rule is not recorded as refused: %+v", r))
		}
		logged[toldOf(r.Person, r.Action, r.Rules, r.At.Time)]++
	}
	faults = append(faults, s.unrecorded(want)...)
	seen := map[told]int{}
	for _, e := range s.events(hubwire.Audit) {
		var d struct {
			Person, Action string
			Rules          []string
		}
		if err := json.Unmarshal([]byte(e.Payload.(*event.Audit).Detail), &d); err != nil {
			return append(faults, err.Error())
		}
		if d.Action == "push" {
			seen[toldOf(d.Person, d.Action, d.Rules, e.Observed.Time)]++
		}
	}
	for key, n := range logged {
		if seen[key] != min(n, most) {
			faults = append(faults, fmt.Sprintf("%d records and %d audit events of %+v", n, seen[key], key))
		}
	}
	return faults
}

// unrecorded says which attacks nobody wrote down as breaking their rule.
func (s *storm) unrecorded(want map[string]string) (faults []string) {
	list := s.records()
	for name, rule := range want {
		if !slices.ContainsFunc(list, func(r audit.Record) bool { return slices.Contains(r.Rules, rule) }) {
			faults = append(faults, fmt.Sprintf("no record of %s, which breaks %s", name, rule))
		}
	}
	return faults
}

func toldOf(person, action string, rules []string, at time.Time) told {
	if len(rules) > 0 {
		action = rules[0]
	}
	return told{person, action, at.UTC().Truncate(time.Hour)}
}

// records are all that the hub has recorded of pushes.
func (s *storm) records() []audit.Record {
	s.t.Helper()
	page, err := s.f.Hub().Admin().Records(context.Background(), audit.Filter{Action: "push", Limit: 1 << 20})
	if err != nil {
		s.t.Fatal(err)
	}
	return page.Records
}

// flooded says whether more was recorded of one foe than audit events may tell in an hour.
func (s *storm) flooded() bool {
	of := map[string]int{}
	for _, r := range s.records() {
		if of[r.Person]++; of[r.Person] > maxToldHour {
			return true
		}
	}
	return false
}
