package fleettest_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	devicekey "cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/replica"
)

// What the hub refuses one machine, an admin reads on another like any other
// memory, from the moment they are an admin.
func TestAnAdminReadsWhatTheHubDecided(t *testing.T) {
	f := fleettest.Start(t, hub.Options{Decide: func(e event.Event) error {
		if strings.Contains(e.Payload.Body(), "forbidden") {
			return errors.New("not here")
		}
		return nil
	}})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	id := b.Note("team", "a forbidden word")
	f.Until("the hub refuses it", func() bool {
		list, err := b.Refused(t.Context())
		return err == nil && len(list) > 0
	})
	if hasSpace(t, a, hubwire.Audit) || hasSpace(t, b, hubwire.Audit) {
		t.Error("who is no admin has the audit space")
	}
	if _, err := f.Hub().Admin().Grant(t.Context(), admin.Caller{}, "ana", "team", devices.Admin); err != nil {
		t.Fatal(err)
	}
	f.Until("ana's machine has the refusal", func() bool {
		if _, err := a.Sync(t.Context(), api.SyncRequest{}); err != nil {
			t.Fatal(err)
		}
		return hasSpace(t, a, hubwire.Audit) && slices.ContainsFunc(a.Texts(hubwire.Audit), func(s string) bool {
			return strings.Contains(s, `"refused"`) && strings.Contains(s, `"bob"`) && strings.Contains(s, string(id))
		})
	})
	for _, h := range logged(t, a, api.Query{Filter: api.Filter{Kind: event.KindAudit}}) {
		if h.Space == hubwire.Audit && h.Device != string(hostKey(t, f).ID()) {
			t.Errorf("not the hub's: %+v", h)
		}
	}
	if n := len(logged(t, a, api.Query{Filter: api.Filter{Kind: event.KindAudit}})); n == 0 {
		t.Error("the list of audit events is empty")
	}
	for _, h := range logged(t, a, api.Query{All: true}) {
		if h.Kind == event.KindAudit && h.Space == hubwire.Audit {
			t.Errorf("nobody asked for %+v", h)
		}
	}
	for _, f := range []api.Filter{{Space: hubwire.Audit}, {Kind: event.KindAudit}, {Space: hubwire.Audit, Kind: event.KindAudit}} {
		for _, question := range []string{"who was refused", "refused", string(id)} {
			if hits := asked(t, a, api.Query{Text: question, Filter: f}); !slices.ContainsFunc(hits, isRecord) {
				t.Errorf("%q in %+v finds %+v", question, f, hits)
			}
		}
	}
	for _, typed := range []string{"kind:Audit refused", "refused kind:audit", "kind:audit"} {
		if hits := asked(t, a, api.Query{Text: typed}); !slices.ContainsFunc(hits, isRecord) {
			t.Errorf("%q finds %+v", typed, hits)
		}
	}
	a.Note("team", "bob was refused a raise")
	for _, q := range []api.Query{{Text: "bob refused"}, {Text: "bob refused", All: true}, {Text: "push", Prefix: true}, {Text: "NOT kind:audit refused"}} {
		if hits := asked(t, a, q); slices.ContainsFunc(hits, isRecord) {
			t.Errorf("nobody asked %+v for %+v", q, hits)
		}
	}
	if hits := asked(t, a, api.Query{Text: "bob refused"}); len(hits) == 0 {
		t.Error("a note is hidden behind the hub's record")
	}
	refusedBy(t, a, hubwire.Audit, "a note between", hubwire.RuleAudit)
	if s := space(t, a, hubwire.Audit); s.Ahead != 0 {
		t.Errorf("%+v", s)
	}
	if hasSpace(t, b, hubwire.Audit) {
		t.Error("bob's machine has the audit space")
	}
}

func hasSpace(t *testing.T, m *fleettest.Machine, name string) bool {
	t.Helper()
	s, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(s.Spaces, func(s api.SpaceStatus) bool { return s.Name == name })
}

func logged(t *testing.T, m *fleettest.Machine, q api.Query) []api.Hit {
	t.Helper()
	q.Limit = 10_000
	answer, err := m.Log(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Hits
}

func asked(t *testing.T, m *fleettest.Machine, q api.Query) []api.Hit {
	t.Helper()
	answer, err := m.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Hits
}

// isRecord says whether a hit is something that the hub has recorded.
func isRecord(h api.Hit) bool { return h.Kind == event.KindAudit && h.Space == hubwire.Audit }

func hostKey(t *testing.T, f *fleettest.Fleet) devicekey.Key {
	t.Helper()
	key, err := devicekey.Load(disk.OS, filepath.Join(f.HubDir(), "host_key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// hubsEvent is an event that the hub's key signed.
func hubsEvent(t *testing.T, f *fleettest.Fleet, space string, p event.Payload) event.Event {
	t.Helper()
	key := hostKey(t, f)
	e := eventtest.Note("x")
	e.Space, e.Classification = space, event.Public
	e.Payload, e.Kind, e.Layer, e.Subject = p, p.Kind(), p.Kind().Layer(), p.Subject()
	e.Actor.Device = key.ID()
	signed, err := key.Sign(e)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// The hub's key speaks in the audit space alone: whatever else it signs is
// refused, also when the hub itself brings it.
func TestTheHubsKeyWritesNowhereElse(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	a.Note("team", "ours")
	f.Until("nothing waits", func() bool { return space(t, a, "team").Ahead == 0 })
	f.StopHub()
	smuggle(t, filepath.Join(f.HubDir(), "spaces", "team.git"), hubsEvent(t, f, "team", &event.Audit{What: "push", Detail: "the hub's"}))
	f.StartHub()
	f.Until("the machine refuses it", func() bool {
		results, err := a.Sync(t.Context(), api.SyncRequest{Space: "team"})
		return err == nil && len(results) == 1 && results[0].Problem != nil && results[0].Problem.Rule == replica.RuleStranger
	})
	if texts := a.Texts("team"); !slices.Equal(texts, []string{"ours"}) {
		t.Errorf("the machine shows %q", texts)
	}
}

// In a copy of the audit space, from anywhere, only the hub's word counts.
func TestACopyOfTheAuditSpaceIsTheHubs(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	if _, err := f.Hub().Admin().Grant(t.Context(), admin.Caller{}, "ana", "team", devices.Admin); err != nil {
		t.Fatal(err)
	}
	f.Until("ana's machine has the space", func() bool {
		if _, err := a.Sync(t.Context(), api.SyncRequest{}); err != nil {
			t.Fatal(err)
		}
		return hasSpace(t, a, hubwire.Audit) && len(a.Texts(hubwire.Audit)) > 0
	})
	dir := filepath.Join(t.TempDir(), "mirror.git")
	if err := a.AddRemote(t.Context(), api.Remote{Space: hubwire.Audit, Name: "mirror", URL: dir}); err != nil {
		t.Fatal(err)
	}
	mirror := func() api.SyncResult {
		t.Helper()
		results, err := a.Sync(t.Context(), api.SyncRequest{Space: hubwire.Audit, Remote: "mirror"})
		if err != nil || len(results) != 1 {
			t.Fatalf("%+v, %v", results, err)
		}
		return results[0]
	}
	if r := mirror(); r.Problem != nil {
		t.Fatal(r.Problem)
	}
	for what, forge := range map[string]func() event.Event{
		"a member's": func() event.Event {
			e := hubsEvent(t, f, hubwire.Audit, &event.Audit{What: "push", Detail: "forged"})
			e.Actor.Device, e.Sig = keyOf(t, a).ID(), nil
			signed, err := keyOf(t, a).Sign(e)
			if err != nil {
				t.Fatal(err)
			}
			return signed
		},
		"a note of the hub's": func() event.Event {
			return hubsEvent(t, f, hubwire.Audit, &event.Observe{Summary: "x", Content: "forged"})
		},
	} {
		l, err := eventlog.Open(disk.OS, dir, hubwire.Audit)
		if err != nil {
			t.Fatal(err)
		}
		before, err := l.Head()
		if err := errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		smuggle(t, dir, forge())
		if r := mirror(); r.Problem == nil || r.Problem.Rule != replica.RuleStranger {
			t.Errorf("%s is taken: %+v", what, r)
		}
		reset(t, dir, before)
	}
	if slices.Contains(a.Texts(hubwire.Audit), "forged") {
		t.Error("something forged is shown")
	}
}

// reset moves a repository's branch back.
func reset(t *testing.T, dir string, to eventlog.Head) {
	t.Helper()
	l, err := eventlog.Open(disk.OS, dir, hubwire.Audit)
	if err != nil {
		t.Fatal(err)
	}
	now, err := l.Head()
	if err == nil {
		err = l.Settle(t.Context())
	}
	if err == nil {
		err = l.Store().UpdateRef(to.Ref, now.Commit, to.Commit)
	}
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
}
