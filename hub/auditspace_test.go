package hub_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// Stock git is enough to read what the hub decided.
func TestAnAdminClonesTheAuditSpace(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Admin, "laptop", "team")
	h.member("bo", devices.Write, "desktop", "team")
	bo := h.worker("desktop")
	if out, err := bo.run("clone", "--quiet", bo.url("audit"), "audit"); err == nil {
		t.Errorf("who is no admin clones it: %s", out)
	} else {
		wants(t, "that refusal", out, "space")
	}
	w := h.worker("laptop").clone("audit")
	h.until("what was done is an event", func() bool {
		w.git("fetch", "--quiet", "origin", "main:main")
		return strings.Contains(w.git("log", "-p", "main"), `\"action\":\"enrol\"`)
	})
	w.fsck()
	w.append(note("audit", "laptop", "mine"))
	w.refused([]string{"push", "origin", "main"}, hubwire.RuleAudit)
	w.refused([]string{"push", "origin", "HEAD:refs/for/main"}, hubwire.RuleAudit)
	h.until("the refusal is an event", func() bool {
		return strings.Contains(h.worker("laptop").clone("audit").git("log", "-p", "main"), `\"rules\":[\"`+hubwire.RuleAudit+`\"]`)
	})
	wants(t, "the verb status", h.status(), "audit")
}

// until waits until something holds.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	h.t.Fatalf("it never came to that: %s", what)
}

func (h *house) status() string {
	h.t.Helper()
	s, err := h.Admin().Status(context.Background())
	if err != nil || s.AuditEvents == nil || s.AuditEvents.Problem != "" {
		h.t.Fatalf("%+v, %v", s.AuditEvents, err)
	}
	return s.String()
}

// The name is the hub's: nobody is given a right there, and nobody makes it.
func TestTheAuditSpaceIsNobodysToGive(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("bo", devices.Write, "desktop", "team")
	ctx := context.Background()
	_, made := h.Admin().CreateSpace(ctx, admin.Caller{}, "audit")
	_, granted := h.Admin().Grant(ctx, admin.Caller{}, "bo", "audit", devices.Read)
	_, invited := h.Admin().Invite(ctx, admin.Caller{}, admin.InviteRequest{Person: "cy", Spaces: []string{"audit"}, Role: devices.Read, Addr: h.addr})
	for what, err := range map[string]error{"made": made, "granted": granted, "invited": invited} {
		if problem.Of(err).Code != problem.Usage {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := h.Admin().Grant(ctx, admin.Caller{}, "bo", devices.AllSpaces, devices.Write); err != nil {
		t.Fatal(err)
	}
	var list []hubwire.SpaceInfo
	if err := h.as("desktop").run("", &list, "spaces"); err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == "audit" {
			t.Errorf("who writes everywhere is offered %+v", s)
		}
	}
}

// A hub that was made before there was such a space has it once it serves; and
// what cannot be written keeps no push from being taken.
func TestAHubOfBeforeGetsTheSpaceAndAForeignOneStopsNothing(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(h.dir, "spaces", "audit.git")
	if err := errors.Join(disk.OS.RemoveAll(dir), disk.OS.RemoveAll(filepath.Join(h.dir, "audit-events.json"))); err != nil {
		t.Fatal(err)
	}
	h.again()
	h.until("it is there", func() bool {
		l, err := eventlog.Open(disk.OS, dir, "audit")
		return err == nil && l.Close() == nil
	})
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	l, err := eventlog.Open(disk.OS, dir, "audit")
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Append(t.Context(), func(eventlog.Head) ([]event.Event, error) {
		return []event.Event{note("audit", "stranger", "here before")}, nil
	})
	if err := errors.Join(err, l.Close(), disk.OS.RemoveAll(filepath.Join(h.dir, "audit-events.json"))); err != nil {
		t.Fatal(err)
	}
	h.again()
	h.member("bo", devices.Write, "desktop", "team")
	w := h.worker("desktop").clone("team")
	w.note("one")
	w.git("push", "--quiet", "origin", "main")
	s, err := h.Admin().Status(context.Background())
	if err != nil || s.AuditEvents == nil || s.AuditEvents.Problem == "" || s.AuditEvents.Waiting == 0 {
		t.Errorf("%+v, %v", s.AuditEvents, err)
	}
	wants(t, "the verb status", s.String(), "audit events: ", "before")
}

// again serves the folder anew.
func (h *house) again() {
	h.t.Helper()
	var err error
	if h.Hub, err = hub.Open(h.dir, hub.Options{Log: slog.New(slog.NewTextHandler(h.log, nil))}); err != nil {
		h.t.Fatal(err)
	}
	h.serve()
}
