package hook_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/hook"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/intake"
)

const zeros = "0000000000000000000000000000000000000000"

// A server is a bare repository without history, and a quarantine with the
// first commit of a space.
type server struct {
	dir, quarantine string
	line            string // what git says on standard input
}

func newServer(t *testing.T) server {
	t.Helper()
	s := server{dir: filepath.Join(t.TempDir(), "server.git")}
	s.quarantine = filepath.Join(s.dir, "objects", "tmp_objdir-incoming-x")
	from := filepath.Join(t.TempDir(), "team.git")
	log, err := eventlog.Create(disk.OS, from, commitform.Space{Name: "team", ID: event.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	head, err := log.Head()
	err = errors.Join(err, log.Close(), gitstore.Init(disk.OS, s.dir))
	if err == nil {
		err = os.CopyFS(filepath.Join(s.quarantine, "pack"), os.DirFS(filepath.Join(from, "objects", "pack")))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.line = zeros + " " + head.Commit.String() + " " + event.MainRef + "\n"
	return s
}

func (s server) env() map[string]string {
	return map[string]string{
		"GIT_DIR": ".", "GIT_OBJECT_DIRECTORY": s.quarantine, "GIT_QUARANTINE_PATH": s.quarantine,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": filepath.Join(s.dir, "objects"),
	}
}

func (s server) judge(ctx context.Context, env map[string]string, in io.Reader, o hook.Options) ([]string, error) {
	o.FS = disk.OS
	if o.Now == nil {
		o.Now = time.Now
	}
	return hook.Judge(ctx, hook.Call{Getenv: func(name string) string { return env[name] }, Dir: s.dir, Stdin: in}, o)
}

func TestAFirstPushPasses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, o := range []hook.Options{{}, {Space: "team"}} {
		if lines, err := s.judge(t.Context(), s.env(), strings.NewReader(s.line), o); err != nil || lines != nil {
			t.Errorf("%+v: %v, %v", o, lines, err)
		}
	}
	env := s.env()
	delete(env, "GIT_QUARANTINE_PATH") // not every server passes it on
	if lines, err := s.judge(t.Context(), env, strings.NewReader(s.line), hook.Options{}); err != nil || lines != nil {
		t.Errorf("without GIT_QUARANTINE_PATH: %v, %v", lines, err)
	}
	lines, err := s.judge(t.Context(), s.env(), strings.NewReader(s.line), hook.Options{Space: "other"})
	if err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "rule=space ") }) {
		t.Errorf("another space: %v, %v", lines, err)
	}
}

// Whatever is not as it should be, nothing passes.
func TestTheHookFailsClosed(t *testing.T) {
	t.Parallel()
	good := newServer(t)
	with := func(name, value string) map[string]string {
		env := good.env()
		env[name] = value
		return env
	}
	long := strings.Repeat(good.line, 1<<20/len(good.line)+1)
	for name, c := range map[string]struct {
		env map[string]string
		in  string
	}{
		"no quarantine":             {with("GIT_OBJECT_DIRECTORY", ""), good.line},
		"a quarantine that is none": {with("GIT_OBJECT_DIRECTORY", filepath.Join(good.dir, "objects")), good.line},
		"two quarantines":           {with("GIT_QUARANTINE_PATH", filepath.Join(good.dir, "elsewhere")), good.line},
		"a quarantine that is gone": {map[string]string{"GIT_OBJECT_DIRECTORY": filepath.Join(good.dir, "gone")}, good.line},
		"no repository":             {with("GIT_DIR", "gone"), good.line},
		"a namespace":               {with("GIT_NAMESPACE", "x"), good.line},
		"storage that is gone":      {with("GIT_ALTERNATE_OBJECT_DIRECTORIES", filepath.Join(good.dir, "gone")), good.line},
		"storage in open quotes":    {with("GIT_ALTERNATE_OBJECT_DIRECTORIES", `"/x`), good.line},
		"nothing on input":          {good.env(), ""},
		"words on input":            {good.env(), "hello\n"},
		"half a line":               {good.env(), good.line[:60]},
		"ids of SHA-256":            {good.env(), zeros + zeros[:24] + " " + zeros[:24] + good.line[41:]},
		"endless input":             {good.env(), long},
	} {
		lines, err := good.judge(t.Context(), c.env, strings.NewReader(c.in), hook.Options{})
		if err == nil {
			t.Errorf("%s: no error, %v", name, lines)
			continue
		}
		if told := hook.Told(err); len(told) < 2 || told[len(told)-1] != "cairn: nothing of this push was stored" {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// A scanner that hangs, or a git that never ends its list, lets nothing pass.
func TestWhatTakesTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	silent, never := io.Pipe()
	t.Cleanup(func() { never.Close() })
	hangs := func(plumbing.ObjectType, []byte) []intake.Finding { <-block; return nil }
	soon := repository.Limits{Whole: 20 * time.Millisecond}
	for name, c := range map[string]struct {
		in io.Reader
		o  hook.Options
	}{
		"a scanner": {strings.NewReader(s.line), hook.Options{Raw: hangs, Limits: soon}},
		"git":       {silent, hook.Options{Limits: soon}},
	} {
		if lines, err := s.judge(t.Context(), s.env(), c.in, c.o); !errors.Is(err, hook.ErrTooLong) {
			t.Errorf("%s: %v, %v", name, lines, err)
		}
	}
}

// A panic lets nothing pass, and none of its words go out.
func TestAPanicRefuses(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := hook.Options{Raw: func(plumbing.ObjectType, []byte) []intake.Finding { panic("what was pushed") }}
	lines, err := s.judge(t.Context(), s.env(), strings.NewReader(s.line), o)
	if err == nil || strings.Contains(strings.Join(hook.Told(err), ""), "what was pushed") {
		t.Errorf("%v, %v", lines, err)
	}
}

func TestFoldersAreReadAsGitNamesThem(t *testing.T) {
	t.Parallel()
	sep := string(filepath.ListSeparator)
	for list, want := range map[string][]string{
		"":                                 nil,
		"/a" + sep + "/b":                  {"/a", "/b"},
		sep + "/a" + sep:                   {"/a"},
		`"/with` + sep + `x"` + sep + "/b": {"/with" + sep + "x", "/b"},
		`"/tab\t"`:                         {"/tab\t"},
	} {
		if got, err := hook.SplitPaths(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %v", list, got, err)
		}
	}
	env := map[string]string{"GIT_DIR": "x.git", "GIT_OBJECT_DIRECTORY": "q"}
	base := t.TempDir()
	p, err := hook.ReadPlaces(func(n string) string { return env[n] }, base)
	if err != nil || p.Repo != filepath.Join(base, "x.git") || p.Quarantine != filepath.Join(base, "q") {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzReadCommands(f *testing.F) {
	f.Add(zeros + " " + zeros + " refs/heads/main\n")
	f.Add(zeros + " " + zeros + " refs/heads/main\n" + zeros)
	f.Add("\n")
	f.Fuzz(func(t *testing.T, input string) {
		commands, err := hook.ReadCommands(strings.NewReader(input))
		var again strings.Builder
		for _, c := range commands {
			again.WriteString(c.Old.String() + " " + c.New.String() + " " + c.Ref + "\n")
		}
		if err == nil && (len(commands) == 0 || strings.TrimRight(again.String(), "\n") != strings.TrimRight(strings.ReplaceAll(input, "\r\n", "\n"), "\n")) {
			t.Errorf("%q is read as %q", input, again.String())
		}
	})
}
