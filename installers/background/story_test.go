package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kardianos/service"
)

// A fakeHost is a machine with a service manager of one kind. It keeps the registration where the real one looks.
type fakeHost struct {
	t        *testing.T
	dir      string
	platform string // of the service manager that is there
	path     string // of the registration
	loaded   bool
	running  bool
	failed   bool
	tasks    map[string]string
	calls    []string
	breaks   string // a call that starts like this fails
}

var errBroken = errors.New("exit status 1")

func newFakeHost(t *testing.T, platform string) *fakeHost {
	return &fakeHost{t: t, dir: t.TempDir(), platform: platform, tasks: map[string]string{}}
}

func (f *fakeHost) host() host {
	return host{home: f.dir, uid: 501, user: `PC\ann lee`, run: f.run, control: func(platform string, c *service.Config) (control, error) {
		if platform != f.platform {
			return nil, &UnavailableError{Reason: "the service manager is another one"}
		}
		text, _ := c.Option["SystemdScript"].(string)
		if platform == "darwin-launchd" {
			text, _ = c.Option["LaunchdConfig"].(string)
		}
		if c.Option["UserService"] != true {
			f.t.Error("this would be a service of the whole machine")
		}
		return fakeControl{f, text}, nil
	}}
}

func (f *fakeHost) note(call string) error {
	f.calls = append(f.calls, call)
	if f.breaks != "" && strings.HasPrefix(call, f.breaks) {
		return errBroken
	}
	return nil
}

func (f *fakeHost) run(_ context.Context, program string, args ...string) (string, error) {
	call := program + " " + strings.Join(args, " ")
	if err := f.note(call); err != nil {
		return "", err
	}
	switch {
	case program == "systemctl" && f.platform == "linux-systemd":
		if strings.Contains(call, "is-failed") && !f.failed {
			return "", errBroken
		}
		return "", nil
	case program == "launchctl" && f.platform == "darwin-launchd":
		return f.launchctl(args)
	case (program == "schtasks" || program == "powershell") && f.platform == "windows":
		return f.schtasks(args)
	default:
		return "", fmt.Errorf("%s: not found", program)
	}
}

func (f *fakeHost) launchctl(args []string) (string, error) {
	switch args[0] {
	case "bootstrap":
		if f.loaded || args[1] != "gui/501" || args[2] != f.path {
			return "", errBroken
		}
		f.loaded, f.running = true, true
		return "", nil
	case "kickstart":
		f.running = f.loaded
		return "", nil
	}
	if !f.loaded {
		return "", errBroken
	}
	switch {
	case args[0] == "bootout":
		f.loaded, f.running = false, false
		return "", nil
	case f.running:
		return "\tstate = running\n\tlast exit code = (never exited)\n", nil
	case f.failed:
		return "\tstate = not running\n\tlast exit code = 2\n", nil
	default:
		return "\tstate = not running\n\tlast exit code = 0\n", nil
	}
}

func (f *fakeHost) schtasks(args []string) (string, error) {
	if args[0] == "-NoProfile" {
		if f.running {
			return "4\r\n", nil
		}
		return "3\r\n", nil
	}
	if len(args) == 1 {
		return "", nil
	}
	name := args[2]
	if _, ok := f.tasks[name]; !ok && args[0] != "/Create" {
		return "", errBroken
	}
	switch args[0] {
	case "/Create":
		text, err := os.ReadFile(args[4])
		f.tasks[name] = string(text)
		return "", err
	case "/Delete":
		delete(f.tasks, name)
	case "/Run":
		f.running = true
	case "/End":
		f.running = false
	}
	return "", nil
}

// A fakeControl does to the file what the library does.
type fakeControl struct {
	*fakeHost
	text string
}

func (c fakeControl) Install() error {
	if _, err := os.Stat(c.path); err == nil {
		return errors.New("Init already exists")
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(c.path, []byte(c.text), 0o644); err != nil {
		return err
	}
	return c.note("install")
}

func (c fakeControl) Uninstall() error {
	if err := c.note("uninstall"); err != nil {
		return err
	}
	return os.Remove(c.path)
}

func (c fakeControl) Start() error   { c.running = true; return c.note("start") }
func (c fakeControl) Stop() error    { c.running = false; return c.note("stop") }
func (c fakeControl) Restart() error { c.running = true; return c.note("restart") }

func (c fakeControl) Status() (service.Status, error) {
	switch {
	case c.failed:
		return service.StatusUnknown, errors.New("service in failed state")
	case c.running:
		return service.StatusRunning, nil
	default:
		return service.StatusStopped, nil
	}
}

// systems are the three kinds of machine, with where the registration lies.
var systems = []struct{ goos, platform, path, binary, home string }{
	{"linux", "linux-systemd", ".config/systemd/user/cairn.service", "/opt/cairn", "/home/ann/.cairn"},
	{"darwin", "darwin-launchd", "Library/LaunchAgents/cairn.agent.plist", "/opt/cairn", "/Users/ann/.cairn"},
	{"windows", "windows", "", `C:\cairn.exe`, `C:\Users\ann\.cairn`},
}

func onEachSystem(t *testing.T, story func(t *testing.T, f *fakeHost, manager func(binary string) Manager)) {
	t.Parallel()
	for _, s := range systems {
		t.Run(s.goos, func(t *testing.T) {
			t.Parallel()
			f := newFakeHost(t, s.platform)
			if s.path != "" {
				f.path = filepath.Join(f.dir, s.path)
			}
			story(t, f, func(binary string) Manager {
				if binary == "" {
					binary = s.binary
				}
				m, err := newManager(Spec{Binary: binary, Home: s.home}, s.goos, f.host())
				if err != nil {
					t.Fatal(err)
				}
				return m
			})
		})
	}
}

func must(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	if err := do(context.Background()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func is(t *testing.T, m Manager, want Status) {
	t.Helper()
	if got, err := m.Status(context.Background()); got != want || err != nil {
		t.Fatalf("status %q, %v, want %q", got, err, want)
	}
}

func TestALifeOfAService(t *testing.T) {
	onEachSystem(t, func(t *testing.T, f *fakeHost, manager func(string) Manager) {
		m := manager("")
		is(t, m, NotInstalled)
		must(t, "uninstall nothing", m.Uninstall)
		must(t, "install", m.Install)
		is(t, m, Running)
		must(t, "install again", m.Install)
		is(t, m, Running)
		must(t, "stop", m.Stop)
		is(t, m, Stopped)
		must(t, "stop again", m.Stop)
		must(t, "start", m.Start)
		must(t, "start again", m.Start)
		is(t, m, Running)
		must(t, "uninstall", m.Uninstall)
		is(t, m, NotInstalled)
		if _, err := os.Stat(f.path); err == nil || len(f.tasks) > 0 || f.running {
			t.Errorf("something is left: %v %v %v", err, f.tasks, f.running)
		}
		must(t, "uninstall again", m.Uninstall)
	})
}

func TestStartAndStopNeedAnInstallation(t *testing.T) {
	onEachSystem(t, func(t *testing.T, _ *fakeHost, manager func(string) Manager) {
		for _, do := range []func(context.Context) error{manager("").Start, manager("").Stop} {
			if err := do(context.Background()); !errors.Is(err, ErrNotInstalled) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestANewPlaceOfTheProgramIsRegistered(t *testing.T) {
	onEachSystem(t, func(t *testing.T, f *fakeHost, manager func(string) Manager) {
		must(t, "install", manager("").Install)
		m := manager(map[bool]string{true: `D:\new\cairn.exe`, false: "/new/cairn"}[f.platform == "windows"])
		must(t, "install again", m.Install)
		is(t, m, Running)
		var text string
		for _, task := range f.tasks {
			text = strings.ReplaceAll(task, "\x00", "")
		}
		if f.path != "" {
			file, err := os.ReadFile(f.path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(file)
		}
		if !strings.Contains(text, "new") {
			t.Errorf("got %s", text)
		}
	})
}

func TestARegistrationOfOthersIsLeft(t *testing.T) {
	onEachSystem(t, func(t *testing.T, f *fakeHost, manager func(string) Manager) {
		if f.path == "" {
			return // the name of a task holds our name and the user's
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.path, []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
		m := manager("")
		for _, do := range []func(context.Context) error{m.Install, m.Uninstall, m.Stop, m.Start} {
			err := do(context.Background())
			if foreign, ok := errors.AsType[*ForeignError](err); !ok || foreign.Path != f.path {
				t.Errorf("got %v", err)
			}
		}
		if text, err := os.ReadFile(f.path); err != nil || string(text) != "theirs" {
			t.Errorf("got %s, %v", text, err)
		}
	})
}

func TestAFailedServiceIsToldFromAStoppedOne(t *testing.T) {
	onEachSystem(t, func(t *testing.T, f *fakeHost, manager func(string) Manager) {
		if f.platform == "windows" {
			return // the scheduler does not say
		}
		must(t, "install", manager("").Install)
		f.running, f.failed = false, true
		is(t, manager(""), Failed)
	})
}

func TestWithoutAServiceManagerTheAgentStartsOnDemand(t *testing.T) {
	t.Parallel()
	for _, s := range systems {
		f := newFakeHost(t, "none")
		m, err := newManager(Spec{Binary: s.binary, Home: s.home}, s.goos, f.host())
		if err != nil {
			t.Fatal(err)
		}
		err = m.Install(context.Background())
		if _, ok := errors.AsType[*UnavailableError](err); !ok || !strings.Contains(err.Error(), "on demand instead") {
			t.Errorf("%s: got %v", s.goos, err)
		}
		if entries, err := os.ReadDir(f.dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: something was written: %v, %v", s.goos, entries, err)
		}
	}
}

func TestAnInstallationThatBrokeOffIsFinishedByTheNext(t *testing.T) {
	onEachSystem(t, func(t *testing.T, f *fakeHost, manager func(string) Manager) {
		f.breaks = map[string]string{"linux-systemd": "install", "darwin-launchd": "launchctl bootstrap", "windows": "schtasks /Run"}[f.platform]
		if err := manager("").Install(context.Background()); !errors.Is(err, errBroken) {
			t.Fatalf("got %v", err)
		}
		f.breaks = ""
		must(t, "install", manager("").Install)
		is(t, manager(""), Running)
		if f.platform == "linux-systemd" && !slices.Contains(f.calls, "systemctl --user enable cairn.service") {
			t.Error("the unit is not wanted by the next logon")
		}
	})
}

func TestSpecsThatNoTextCanHoldAreRefused(t *testing.T) {
	t.Parallel()
	good := Spec{Binary: "/bin/cairn", Home: "/home"}
	for what, spoil := range map[string]func(*Spec){
		"relative program": func(s *Spec) { s.Binary = "cairn" },
		"tilde":            func(s *Spec) { s.Home = "~/.cairn" },
		"line end":         func(s *Spec) { s.Home = "/a\nExecStart=/bin/sh" },
		"variable's name":  func(s *Spec) { s.Env = map[string]string{"A B": ""} },
		"variable's value": func(s *Spec) { s.Env = map[string]string{"A": "\x00"} },
	} {
		for _, goos := range []string{"linux", "darwin"} {
			spec := good
			spoil(&spec)
			if _, err := New(spec, goos); err == nil {
				t.Errorf("%s was taken for %s", what, goos)
			}
		}
	}
	if _, err := New(Spec{Binary: `C:\c.exe`, Home: `C:\h`, Env: map[string]string{"A": "b"}}, "windows"); err == nil {
		t.Error("a variable was taken for a task")
	}
	if _, err := New(Spec{Binary: `/a"b`, Home: "/h"}, "linux"); err == nil {
		t.Error("a program was taken that systemd refuses")
	}
	if _, err := New(good, "windows"); err == nil {
		t.Error("a path without a drive was taken for Windows")
	}
}

func TestOtherSystemsCanBePreviewedOnly(t *testing.T) {
	t.Parallel()
	for _, s := range systems {
		if s.goos == runtime.GOOS {
			continue
		}
		m, err := New(Spec{Binary: s.binary, Home: s.home}, s.goos)
		if err != nil || !strings.Contains(m.Preview(), "agent") {
			t.Fatalf("%s: %v", s.goos, err)
		}
		if _, ok := errors.AsType[*UnavailableError](m.Start(context.Background())); !ok {
			t.Errorf("%s: started here", s.goos)
		}
	}
	_, err := New(Spec{Binary: "/c", Home: "/h"}, "plan9")
	if _, ok := errors.AsType[*UnavailableError](err); !ok {
		t.Errorf("got %v", err)
	}
}
