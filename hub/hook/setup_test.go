package hook_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cairn/hub/hook"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/roster"
)

var hubID = event.ID("01kk0000000000000000000000")

// A desk is a folder with what a hook may be told to read.
type desk struct {
	t   *testing.T
	dir string
}

func (d desk) write(name string, content []byte) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return path
}

// list is a list of members, of which the laptop is let in.
func list(by string, hub event.ID, number int64) []byte {
	laptop := roster.Device{ID: eventtest.Device("laptop"), Person: "ana"}
	return roster.Encode(roster.New(hub, number, []roster.Device{laptop}, device.FromPrivate(eventtest.Key(by))))
}

func TestWhatAHookIsToldIsUnderstoodWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	d := desk{t, t.TempDir()}
	key, other := d.write("hub.pub", []byte(line(t, "hub")+"\n")), d.write("other.pub", []byte(line(t, "other")))
	members := d.write("members.json", list("hub", hubID, 7))
	d.write("lists/1.json", list("hub", hubID, 1))
	d.write("lists/2.json", list("hub", hubID, 2))
	policy := d.write("policy.yaml", []byte("version: 1\nteam: acme\nadmins: [ana]\n"))
	prints := d.write("prints.key", []byte(strings.Repeat("k", 32)))
	open := d.write("open.key", []byte(strings.Repeat("k", 32)))
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	good := hook.Setup{Space: "team", HubKey: key, Members: members, Policy: policy, Fingerprints: prints}
	for name, change := range map[string]func(*hook.Setup){
		"nothing":            func(s *hook.Setup) { *s = hook.Setup{} },
		"all":                func(*hook.Setup) {},
		"a folder of lists":  func(s *hook.Setup) { s.Members = filepath.Join(d.dir, "lists") },
		"the owner's":        func(s *hook.Setup) { s.Space, s.Owner = "personal", "ana" },
		"another timeout":    func(s *hook.Setup) { s.Timeout = "3s" },
		"a policy by itself": func(s *hook.Setup) { *s = hook.Setup{Policy: policy} },
	} {
		s := good
		change(&s)
		if _, err := s.Options(disk.OS, time.Now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*hook.Setup){
		"no space's name":          func(s *hook.Setup) { s.Space = "no space" },
		"no hub":                   func(s *hook.Setup) { s.HubKey = "" },
		"another hub":              func(s *hook.Setup) { s.HubKey = other },
		"no key":                   func(s *hook.Setup) { s.HubKey = policy },
		"two keys":                 func(s *hook.Setup) { s.HubKey = d.write("two.pub", []byte(line(t, "hub")+"\n"+line(t, "other"))) },
		"no list":                  func(s *hook.Setup) { s.Members = filepath.Join(d.dir, "gone") },
		"a forged list":            func(s *hook.Setup) { s.Members = d.write("forged.json", list("other", hubID, 9)) },
		"half a list":              func(s *hook.Setup) { s.Members = d.write("half.json", list("hub", hubID, 9)[:80]) },
		"an empty folder of lists": func(s *hook.Setup) { d.write("none/x", nil); s.Members = filepath.Join(d.dir, "none") },
		"a forged one among lists": func(s *hook.Setup) {
			d.write("mixed/1.json", list("hub", hubID, 1))
			s.Members = filepath.Dir(d.write("mixed/2.json", list("other", hubID, 2)))
		},
		"lists of two hubs": func(s *hook.Setup) {
			d.write("hubs/1.json", list("hub", hubID, 1))
			s.Members = filepath.Dir(d.write("hubs/2.json", list("hub", hubID[:25]+"1", 2)))
		},
		"no owner of personal":       func(s *hook.Setup) { s.Space = "personal" },
		"an owner of team":           func(s *hook.Setup) { s.Owner = "ana" },
		"no policy":                  func(s *hook.Setup) { s.Policy = filepath.Join(d.dir, "gone") },
		"a folder without versions":  func(s *hook.Setup) { s.Policy = filepath.Join(d.dir, "lists") },
		"a bad policy":               func(s *hook.Setup) { s.Policy = d.write("bad.yaml", []byte("version: 1\n")) },
		"prints without a policy":    func(s *hook.Setup) { s.Policy = "" },
		"prints that are too short":  func(s *hook.Setup) { s.Fingerprints = d.write("short.key", []byte("k")) },
		"prints that are too long":   func(s *hook.Setup) { s.Fingerprints = d.write("long.key", []byte(strings.Repeat("k", 33))) },
		"no keys":                    func(s *hook.Setup) { s.Keys = filepath.Join(d.dir, "gone") },
		"a timeout of nothing":       func(s *hook.Setup) { s.Timeout = "0s" },
		"a timeout that is none":     func(s *hook.Setup) { s.Timeout = "ten" },
		"versions without their hub": func(s *hook.Setup) { *s = hook.Setup{Policy: filepath.Join(d.dir, "lists")} },
	} {
		s := good
		change(&s)
		if _, err := s.Options(disk.OS, time.Now); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	good.Fingerprints = open
	if _, err := good.Options(disk.OS, time.Now); err == nil && runtime.GOOS != "windows" {
		t.Error("a key that others can read is taken")
	}
}

func TestAConfigurationIsReadStrictlyAndStandsBelowTheFlags(t *testing.T) {
	t.Parallel()
	d := desk{t, t.TempDir()}
	path := d.write("etc/gate.json", []byte(`{"space":"team","members":"members.json","audit":"audit.jsonl","timeout":"5m","audit_mib":8}`))
	base, err := hook.ReadSetup(disk.OS, path)
	if err != nil || base.Members != filepath.Join(d.dir, "etc", "members.json") || base.Audit != filepath.Join(d.dir, "etc", "audit.jsonl") {
		t.Fatalf("%+v, %v", base, err)
	}
	over := hook.Setup{Space: "docs", AuditMiB: 2}.Over(base)
	if over.Space != "docs" || over.AuditMiB != 2 || over.Timeout != "5m" || over.Members != base.Members {
		t.Errorf("%+v", over)
	}
	for name, bad := range map[string]string{
		"nothing": "", "a word": "hello", "an unknown member": `{"spaces":"team"}`, "two objects": `{}{}`, "half": `{"space":`, "a number": `{"space":1}`,
	} {
		if s, err := hook.ReadSetup(disk.OS, d.write("bad.json", []byte(bad))); err == nil || s != (hook.Setup{}) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, err := hook.ReadSetup(disk.OS, filepath.Join(d.dir, "gone")); err == nil {
		t.Error("no file is a configuration")
	}
}

// Who pushes is what the server says; nothing in a record is more than a name.
func TestWhoPushesIsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want hook.Pusher
	}{
		"nobody":          {nil, hook.Pusher{}},
		"GitLab":          {map[string]string{"GL_USERNAME": "ana", "LOGNAME": "git"}, hook.Pusher{Name: "ana", Login: true}},
		"Gitea":           {map[string]string{"GITEA_PUSHER_NAME": "ana.b"}, hook.Pusher{Name: "ana.b", Login: true}},
		"git over https":  {map[string]string{"REMOTE_USER": "ana", "REMOTE_ADDR": "2001:db8::1"}, hook.Pusher{Name: "ana", Addr: "2001:db8::1", Login: true}},
		"ssh":             {map[string]string{"SSH_CONNECTION": "192.0.2.7 1 192.0.2.1 22", "LOGNAME": "git"}, hook.Pusher{Name: "git", Addr: "192.0.2.7"}},
		"a local account": {map[string]string{"LOGNAME": "root"}, hook.Pusher{}},
		"a lie":           {map[string]string{"GL_USERNAME": "a\n{\"x\"}", "REMOTE_ADDR": "evil"}, hook.Pusher{Name: "a---x--", Login: true}},
		"a book":          {map[string]string{"GL_USER": strings.Repeat("x", 5000)}, hook.Pusher{Name: strings.Repeat("x", 100), Login: true}},
	} {
		if got := hook.PusherOf(func(v string) string { return c.env[v] }); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
