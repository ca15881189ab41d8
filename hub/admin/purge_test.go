package admin_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/hub/admin"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// save puts a note into the space team, and returns its id.
func (o *office) save(t *testing.T, text string) event.ID {
	t.Helper()
	log, err := eventlog.Open(disk.OS, filepath.Join(o.dir, "spaces", "team.git"), "team")
	if err != nil {
		t.Fatal(err)
	}
	e := eventtest.Note(text)
	e.Space, e.Classification = "team", event.Public
	e = eventtest.Signed(e, "laptop")
	_, err = log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
	if err := errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func purgeOf(ids ...event.ID) admin.PurgeRequest {
	r := admin.PurgeRequest{Space: "team", Reason: "it should not be there"}
	for _, id := range ids {
		r.Events = append(r.Events, string(id))
	}
	return r
}

// lastRecord is the newest record of a purge.
func (o *office) lastRecord(t *testing.T) audit.Record {
	t.Helper()
	r, err := o.Records(context.Background(), audit.Filter{Action: "purge"})
	if err != nil || len(r.Records) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Records[0]
}

// What a purge took away is on record by its id, also if the purge broke off
// after it could not be undone, and if it is asked for again.
func TestEachPurgeNamesItsEventsOnRecord(t *testing.T) {
	o := opened(t)
	o.run(t, "spaces create team")
	leaked := o.save(t, "leaked")
	// Another program's lock on the branch, which a purge moves last.
	lock := filepath.Join(o.dir, "spaces", "team.git", filepath.FromSlash(event.MainRef)+".lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Purge(t.Context(), admin.Caller{}, purgeOf(leaked)); problem.Of(err) == nil || problem.Of(err).Code != problem.Busy {
		t.Fatalf("with a locked branch: %v", err)
	}
	if r := o.lastRecord(t); r.Verdict != audit.Failed || !slices.Equal(r.Events, []event.ID{leaked}) {
		t.Errorf("what broke off is on record as %+v", r)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	done, err := o.Purge(t.Context(), admin.Caller{}, purgeOf(leaked))
	if err != nil || !slices.Equal(done.Already, []event.ID{leaked}) {
		t.Fatalf("again: %+v, %v", done, err)
	}
	if r := o.lastRecord(t); r.Verdict != audit.Done || !slices.Equal(r.Events, []event.ID{leaked}) || r.Commit != done.Head {
		t.Errorf("what was asked again is on record as %+v", r)
	}
	if _, err := o.Purge(t.Context(), admin.Caller{}, purgeOf(event.NewID(now))); err == nil {
		t.Fatal("an unknown event is purged")
	}
	if r := o.lastRecord(t); r.Verdict != audit.Refused || len(r.Events) > 0 {
		t.Errorf("what was refused is on record as %+v", r)
	}
}

// Whom the policy keeps from administering a space changes nothing there, and
// the attempt is on record. Whoever sits at the hub is not kept.
func TestThePolicyTakesASpaceAwayFromAnAdmin(t *testing.T) {
	o := opened(t)
	o.run(t, "spaces create team")
	o.run(t, "spaces create ops")
	leaked := o.save(t, "leaked")
	o.Administers = func(person, space string) (bool, error) { return person != "ana" || space != "team", nil }
	ana := admin.Caller{Person: "ana", Device: event.DeviceID(strings.Repeat("a", 26))}
	for _, line := range []string{
		"grant ana team write", "invite bob --space ops --space team --addr hub.example:22", "purge " + string(leaked) + " --space team --reason why",
		// What counts in every space counts in that one too.
		"grant bob * write", "grant bob * none", "grant bob ops admin",
		"invite bob --role admin --addr hub.example:22", "invite bob --role admin --space ops --addr hub.example:22", "invite bob --space * --addr hub.example:22",
	} {
		_, err := o.Run(t.Context(), ana, strings.Fields(line))
		if p := problem.Of(err); p == nil || p.Code != problem.HubRefused || p.Rule != "policy" {
			t.Errorf("%s: %v", line, err)
		}
		r, err := o.Records(t.Context(), audit.Filter{Action: strings.Fields(line)[0], Limit: 1})
		if err != nil || len(r.Records) != 1 || r.Records[0].Verdict != audit.Refused || r.Records[0].Person != "ana" {
			t.Errorf("%s is on record as %+v, %v", line, r.Records, err)
		}
	}
	if _, err := o.Run(t.Context(), ana, strings.Fields("invite bob --space ops --addr hub.example:22")); err != nil {
		t.Errorf("in another space: %v", err)
	}
	o.run(t, "purge "+string(leaked)+" --space team --reason why")
}

// Whoever has no personal space yet gets none by somebody's wish to purge it.
func TestAPurgeMakesNoSpace(t *testing.T) {
	o := opened(t)
	o.run(t, "spaces create team")
	err := o.members.Change(context.Background(), func(m *devices.Members) error {
		return m.Invite(public("i laptop"), "ana", []string{"team"}, devices.Write, now, devices.DefaultTTL)
	})
	if err == nil {
		err = o.members.Change(context.Background(), func(m *devices.Members) error {
			_, err := m.Enrol(public("i laptop"), public("laptop"), "laptop", now)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	r := purgeOf(event.NewID(now))
	r.Space, r.Person = hubwire.Personal, "ana"
	if _, err := o.Purge(t.Context(), admin.Caller{}, r); !errors.Is(err, repository.ErrNoSpace) {
		t.Errorf("the purge: %v", err)
	}
	if made, err := os.ReadDir(filepath.Join(o.dir, "people")); len(made) > 0 {
		t.Errorf("it made %v, %v", made, err)
	}
	if _, err := o.Spaces.Personal("ana", now); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Purge(t.Context(), admin.Caller{}, r); problem.Of(err).Code != problem.NotFound || errors.Is(err, repository.ErrNoSpace) {
		t.Errorf("the purge of what is not in the space: %v", err)
	}
}

func public(name string) ed25519.PublicKey { return eventtest.Key(name).Public().(ed25519.PublicKey) }
