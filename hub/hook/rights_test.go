package hook_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/hook"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event/eventtest"
	"cairn/policy"
	"cairn/policy/roster"
	"cairn/sync/intake"
)

func members(owner string) *hook.Members {
	return hook.NewMembers(roster.Roster{Devices: []roster.Device{
		{ID: eventtest.Device("laptop"), Person: "ana"},
		{ID: eventtest.Device("old"), Person: "ana", Revoked: true},
		{ID: eventtest.Device("phone"), Person: "bob"},
		{ID: eventtest.Device("lost"), Person: "cy", Revoked: true},
	}}, owner)
}

func TestWhoseEventsAreTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ space, device, rule string }{
		{"team", "laptop", ""}, {"team", "phone", ""}, {"team", "old", "revoked-device"}, {"team", "lost", "revoked-device"},
		{"team", "stranger", "unknown-device"}, {"personal", "laptop", ""}, {"personal", "phone", "no-right"}, {"personal", "old", "revoked-device"},
	} {
		if rule, hint := members("ana").Origin(c.space, eventtest.Device(c.device)); rule != c.rule || (hint == "") != (rule == "") {
			t.Errorf("%s in %s: %q, %q", c.device, c.space, rule, hint)
		}
	}
	if rule, _ := members("").Origin("personal", eventtest.Device("laptop")); rule == "" {
		t.Error("a space personal that is nobody's takes events")
	}
}

// The hub and the hook name the same rule, whatever the device, the space and its owner.
func TestHubAndHookAgreeOnWhoseEventsAreTaken(t *testing.T) {
	all := new(devices.Members)
	for person, names := range map[string][]string{"ana": {"laptop", "lost"}, "bo": {"desktop"}} {
		for _, name := range names {
			by, key := eventtest.Key("i "+name), eventtest.Key(name)
			err := all.Invite(by.Public().(ed25519.PublicKey), person, []string{"team"}, devices.Write, time.Now(), devices.DefaultTTL)
			if err == nil {
				_, err = all.Enrol(by.Public().(ed25519.PublicKey), key.Public().(ed25519.PublicKey), name, time.Now())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := all.Revoke(string(eventtest.Device("lost")), time.Now()); err != nil {
		t.Fatal(err)
	}
	var list roster.Roster
	for _, d := range all.Devices() {
		list.Devices = append(list.Devices, roster.Device{ID: d.ID, Person: d.Person, Revoked: d.Revoked != nil})
	}
	seen := map[string]bool{}
	for _, place := range [][2]string{{"team", ""}, {"personal", "ana"}, {"personal", "bo"}, {"personal", ""}} {
		space, owner := place[0], place[1]
		atHub, atHook := gate.Members(all, space, owner), hook.NewMembers(list, owner)
		for _, name := range []string{"laptop", "lost", "desktop", "stranger"} {
			want, _ := atHub(eventtest.Device(name))
			got, hint := atHook.Origin(space, eventtest.Device(name))
			if got != want || (hint == "") != (got == "") {
				t.Errorf("%s in %s of %q: the hub says %q, the hook %q (%s)", name, space, owner, want, got, hint)
			}
			seen[got] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("not every rule was tried: %v", seen)
	}
}

// The right of whoever pushes counts where the server has said who it is and
// that is a member; the case of letters is the forge's.
func TestTheRightOfWhoeverPushesCounts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p, err := policy.Read(2, []byte("version: 1\nteam: acme\nadmins: [ana]\nspaces: {team: {read: ['*'], write: [ana, cy], redact: [ana]}}\n"), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who  hook.Pusher
		rule string
	}{
		{hook.Pusher{}, ""}, {hook.Pusher{Name: "ana", Login: true}, ""}, {hook.Pusher{Name: "Ana", Login: true}, ""},
		{hook.Pusher{Name: "bob", Login: true}, "no-right"}, {hook.Pusher{Name: "BOB", Login: true}, "no-right"},
		{hook.Pusher{Name: "bob"}, ""}, {hook.Pusher{Name: "cy", Login: true}, "revoked-device"}, {hook.Pusher{Name: "zoe", Login: true}, ""},
	} {
		lines, err := s.judge(t.Context(), s.env(), strings.NewReader(s.line), hook.Options{Policy: p, Members: members(""), Pusher: c.who})
		if err != nil || (len(lines) > 0) != (c.rule != "") || c.rule != "" && !strings.Contains(lines[0], "rule="+c.rule+" ") {
			t.Errorf("%+v: %q, %v", c.who, lines, err)
		}
	}
}

// Whatever becomes of a push, it is on record; where it cannot be, nothing is
// taken.
func TestEveryVerdictIsOnRecord(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	ledger := audit.NewFile(disk.OS, path, 0, time.Now)
	silent, never := io.Pipe()
	t.Cleanup(func() { never.Close() })
	who := hook.Pusher{Name: "ana", Addr: "192.0.2.7", Login: true}
	for _, c := range []struct {
		in      io.Reader
		o       hook.Options
		verdict string
	}{
		{strings.NewReader(s.line), hook.Options{}, audit.Taken},
		{strings.NewReader(s.line), hook.Options{Space: "other"}, audit.Refused},
		{strings.NewReader("hello\n"), hook.Options{}, audit.Failed},
		{strings.NewReader(s.line), hook.Options{Raw: func(plumbing.ObjectType, []byte) []intake.Finding { panic("what was pushed") }}, audit.Failed},
		{silent, hook.Options{Limits: repository.Limits{Whole: 20 * time.Millisecond}}, audit.Failed},
	} {
		c.o.Pusher, c.o.Ledger = who, ledger
		_, err := s.judge(t.Context(), s.env(), c.in, c.o)
		b, rerr := os.ReadFile(path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		var r audit.Record
		if err := json.Unmarshal(lines[len(lines)-1], &r); err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.verdict || r.Person != "ana" || r.Addr != who.Addr || (len(r.Rules) == 0) != (c.verdict == audit.Taken) || (err != nil) != (c.verdict == audit.Failed) {
			t.Errorf("%+v, %v; want %s", r, err, c.verdict)
		}
		if bytes.Contains(b, []byte("what was pushed")) {
			t.Error("a record holds what was pushed")
		}
	}
	nowhere := hook.Options{Pusher: who, Ledger: audit.NewFile(disk.OS, filepath.Join(path, "x"), 0, time.Now)}
	if lines, err := s.judge(t.Context(), s.env(), strings.NewReader(s.line), nowhere); err == nil {
		t.Errorf("it is taken without a record: %v", lines)
	}
}
