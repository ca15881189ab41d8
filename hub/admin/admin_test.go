package admin_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/hub/admin"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/invite"
	"cairn/internal/problem"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// An office is the administration of a hub in a folder.
type office struct {
	*admin.Admin
	dir     string
	members *devices.Store
	changes int
}

func opened(t *testing.T) *office {
	t.Helper()
	o := &office{dir: t.TempDir()}
	if err := devices.Create(context.Background(), disk.OS, o.dir); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.members, err = devices.Open(disk.OS, o.dir); err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(disk.OS, filepath.Join(o.dir, "audit"), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	spaces := repository.NewSet(disk.OS, o.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := spaces.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Admin = admin.New(admin.Options{
		Members: o.members, Spaces: spaces, Audit: log, Hub: event.NewID(now), HostKey: "SHA256:" + strings.Repeat("x", 43),
		Changed: func() { o.changes++ }, Now: func() time.Time { return now },
		Key: device.FromPrivate(eventtest.Key("hub")),
	})
	return o
}

func (o *office) run(t *testing.T, line string) string {
	t.Helper()
	r, err := o.Run(context.Background(), admin.Caller{}, strings.Fields(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return r.String()
}

// enrol uses an invite as the hub would.
func (o *office) enrol(t *testing.T, text, name string) {
	t.Helper()
	i, err := invite.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	key, err := i.Key()
	if err != nil {
		t.Fatal(err)
	}
	err = o.members.Change(context.Background(), func(m *devices.Members) error {
		_, err := m.Enrol(key.Public().(ed25519.PublicKey), eventtest.Key(name).Public().(ed25519.PublicKey), name, now)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}

func TestADayAtTheHub(t *testing.T) {
	o := opened(t)
	wants(t, "spaces create", o.run(t, "spaces create team"), "Made the space team.")
	text := o.run(t, "invite ana --space team --role admin --addr hub.example.com:7022")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	o.enrol(t, lines[len(lines)-1], "laptop") // the invite is the last line
	o.run(t, "invite bo --space team --expires 2h --addr hub.example.com:7022")
	wants(t, "devices", o.run(t, "devices"), string(eventtest.Device("laptop")), "ana", "team=admin", "2026-03-01 14:00", "bo", "team=write")
	wants(t, "grant", o.run(t, "grant ana team read"), "ana has read in team.")
	wants(t, "grant none", o.run(t, "grant ana team none"), "ana has no right in team.")
	wants(t, "status", o.run(t, "status --json"), "1 people, 1 devices, 0 revoked, 1 awaited", "team", "SHA256:")
	wants(t, "spaces", o.run(t, "spaces"), "SPACE", "team")
	wants(t, "revoke", o.run(t, "revoke ana"), "Revoked device "+string(eventtest.Device("laptop")), "of ana")
	wants(t, "revoke again", o.run(t, "revoke ana"), "Nothing was left to revoke.")
	wants(t, "devices", o.run(t, "devices"), "(revoked 2026-03-01)")
	if o.changes != 6 {
		t.Errorf("running connections were checked %d times", o.changes)
	}
	log := o.run(t, "audit --action revoke")
	wants(t, "audit", log, "(operator)", "revoke ana", "done")
	if strings.Contains(log, "grant") {
		t.Errorf("the filter is not heeded:\n%s", log)
	}
}

func TestAVerbThatCannotBeIsSaidWithAWayOut(t *testing.T) {
	o := opened(t)
	o.run(t, "spaces create team")
	for line, want := range map[string]problem.Code{
		"":                                      problem.Usage,
		"destroy":                               problem.Usage,
		"invite":                                problem.Usage,
		"invite ana":                            problem.Usage, // no address
		"invite ana --addr nowhere":             problem.Usage,
		"invite Ana --addr h:1":                 problem.Usage,
		"invite ana --addr h:1 --role owner":    problem.Usage,
		"invite ana --addr h:1 --role none":     problem.Usage,
		"invite ana --addr h:1 --expires 1s":    problem.Usage,
		"invite ana --addr h:1 --expires never": problem.Usage,
		"invite ana --addr h:1 --space docs":    problem.NotFound,
		"grant ana team":                        problem.Usage,
		"grant ana team owner":                  problem.Usage,
		"grant ana docs read":                   problem.NotFound,
		"grant ana team read":                   problem.NotFound, // nobody of that name
		"revoke ana":                            problem.NotFound,
		"revoke " + string(eventtest.Device("laptop")): problem.NotFound,
		"spaces create team":                           problem.Usage,
		"spaces create personal":                       problem.Usage,
		"spaces rename a b":                            problem.Usage,
		"status now":                                   problem.Usage,
		"audit -n many":                                problem.Usage,
	} {
		_, err := o.Run(context.Background(), admin.Caller{}, strings.Fields(line))
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Code != want {
			t.Errorf("%q: %v", line, err)
		}
	}
	if m, err := o.members.Now(); err != nil || len(m.Invites()) != 0 {
		t.Errorf("invites %v, %v", m.Invites(), err)
	}
}

// What was tried and refused is on record too, without the words of whoever
// tried it.
func TestARefusedVerbIsOnRecord(t *testing.T) {
	o := opened(t)
	by := admin.Caller{Person: "ana", Device: eventtest.Device("laptop"), Addr: "192.0.2.1:5"}
	odd := "Some" + "\x1b" + "Words"
	for _, args := range [][]string{{"revoke", odd}, {"spaces", "create", odd}, {"revoke", "bo"}} {
		if _, err := o.Run(context.Background(), by, args); err == nil {
			t.Fatalf("%v is done", args)
		}
	}
	r, err := o.Records(context.Background(), audit.Filter{})
	if err != nil || len(r.Records) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, x := range r.Records {
		if x.Verdict != audit.Refused || x.Person != "ana" || x.Device != by.Device || x.Addr != by.Addr || len(x.Rules) != 1 {
			t.Errorf("record %+v", x)
		}
		if strings.Contains(fmt.Sprint(x), odd) || (x.Target == "bo") != (i == 0) {
			t.Errorf("record %+v", x)
		}
	}
}

func TestADamagedSpaceDoesNotHideTheOthers(t *testing.T) {
	o := opened(t)
	o.run(t, "spaces create docs")
	o.run(t, "spaces create team")
	head := filepath.Join(o.dir, "spaces", "docs.git", "HEAD")
	if err := os.WriteFile(head, []byte(strings.Repeat("1", 40)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := o.ListSpaces(context.Background())
	if err != nil || len(l.Spaces) != 2 || l.Spaces[0].Problem == "" || l.Spaces[1].Problem != "" || l.Spaces[1].Head == "" {
		t.Errorf("%+v, %v", l, err)
	}
}
