package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent"
)

// A denial is a part of a home whose permissions somebody has changed.
type denial struct {
	part string // of the home
	mode os.FileMode
}

const (
	unreadable = os.FileMode(0)
	readOnly   = os.FileMode(0o500)
)

var denials = []denial{
	{"spaces", unreadable},
	{"spaces/personal.git", unreadable},
	{"spaces/personal.git/HEAD", unreadable},
	{"spaces/personal.git/config", unreadable},
	{"spaces/personal.git/objects", unreadable},
	{"spaces/personal.git/objects/pack", unreadable},
	{"spaces/personal.git/objects/pack/*.pack", unreadable},
	{"spaces/personal.git/objects/pack/*.idx", unreadable},
	{"spaces/personal.git/refs", unreadable},
	{"spaces/personal.git/refs/heads", unreadable},
	{"spaces/personal.git/refs/heads/main", unreadable},
	{"facts", unreadable},
	{"facts/personal*", unreadable},
	{"index", unreadable},
	{"index/*", unreadable},
	{"spaces/personal.git", readOnly},
	{"spaces/personal.git/objects", readOnly},
	{"spaces/personal.git/objects/pack", readOnly},
	{"spaces/personal.git/refs/heads", readOnly},
	{"facts", readOnly},
	{"index", readOnly},
	{"index/*", readOnly},
	{".", readOnly},
}

// deny changes the permissions of the part, and returns what gives them back.
func (p *patient) deny(d denial) (undo func()) {
	p.t.Helper()
	paths, err := filepath.Glob(filepath.Join(string(p.home), filepath.FromSlash(d.part)))
	if err != nil || len(paths) == 0 {
		p.t.Fatalf("%s: %v, %v", d.part, paths, err)
	}
	var undos []func() error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			p.t.Fatal(err)
		}
		undos = append(undos, func() error { return os.Chmod(path, info.Mode().Perm()) })
		if err := os.Chmod(path, d.mode); err != nil {
			p.t.Fatal(err)
		}
	}
	return func() {
		p.t.Helper()
		for _, undo := range undos {
			if err := undo(); err != nil {
				p.t.Error(err)
			}
		}
	}
}

// serve runs the agent of the memory in this process until the returned
// function is called.
func (p *patient) serve() (end func()) {
	p.t.Helper()
	a, err := agent.Own(p.t.Context(), agent.Options{Home: p.home, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.t.Fatal(err)
	}
	return func() {
		if err := a.Close(); err != nil {
			p.t.Logf("the agent ends with %v", err)
		}
	}
}

// Whatever part of a home this user may not read, or not change: nothing is
// taken for deleted, whatever cannot be done is refused with a reason, and what
// was acknowledged, neither less nor more, is there when the rights are back.
func TestWhatMayNotBeReadIsNotDeleted(t *testing.T) {
	if !namespaced(t, ordinary) {
		return
	}
	healthy := newPatient(t)
	for i, d := range denials {
		for n, running := range []bool{false, true} {
			if n != i%2 && os.Getenv("CAIRN_LONG_TESTS") == "" {
				continue // each part is tried in one of both ways
			}
			t.Run(d.name(running), func(t *testing.T) {
				t.Parallel()
				healthy.copyOf(t).survives(d, running)
			})
		}
	}
}

func (d denial) name(running bool) string {
	name := fmt.Sprintf("%s is %s", strings.ReplaceAll(d.part, "/", " "), d.mode)
	if running {
		name += " beside a running agent"
	}
	return name
}

// survives goes through a denial and its end.
func (p *patient) survives(d denial, running bool) {
	p.t.Helper()
	end := func() {}
	if running {
		end = p.serve()
	}
	undo := p.deny(d)
	words := slices.Clone(p.words)
	if p.denied() {
		words = append(words, "marmot")
	}
	p.named(d)
	undo()
	p.findsAgain(words...)
	end()
	p.well("--deep")
	p.whole()
	if n := p.git("rev-list", "--count", "HEAD"); n != fmt.Sprint(len(words)+2) {
		p.t.Errorf("the history has %s commits; there should be a root, one for each of %v, and one that came later", n, words)
	}
}

// denied looks at the commands while a part of the home is denied. It reports
// whether a note could be saved.
func (p *patient) denied() (saved bool) {
	p.t.Helper()
	note := p.run("--json", "note", "a marmot meanwhile")
	p.reasoned("note", note)
	ask := p.run("--json", "ask", "badger")
	p.reasoned("ask", ask)
	if ask.code == 0 && !strings.Contains(ask.out, "sleeps by day") && !strings.Contains(ask.out, `"note"`) {
		p.t.Errorf("ask finds nothing and gives no reason: %s", ask.out)
	}
	p.reasoned("show", p.run("--json", "show", p.ids[0]))
	p.reasoned("status", p.run("--json", "status"))
	return note.code == 0
}

// reasoned requires that a command worked, or says what it met and what to do;
// and that nothing counts as missing.
func (p *patient) reasoned(name string, o outcome) {
	p.t.Helper()
	var answer struct {
		Error struct{ Code, Message, Hint string }
	}
	switch err := json.Unmarshal([]byte(o.out), &answer); {
	case err != nil:
		p.t.Errorf("%s ends with %d and no JSON: %v in %q %q", name, o.code, err, o.out, o.said)
	case o.code == 0:
	case o.code == 3 || answer.Error.Code == "corrupt":
		p.t.Errorf("%s takes what it may not read for missing: %+v", name, answer.Error)
	case !strings.Contains(answer.Error.Message, "permission denied") || answer.Error.Hint == "":
		p.t.Errorf("%s ends with %d and says %+v", name, o.code, answer.Error)
	}
}

// named requires that the doctor names a part that cannot be read.
func (p *patient) named(d denial) {
	p.t.Helper()
	o := p.run("--json", "doctor")
	if d.mode == readOnly && o.code == 0 {
		return // nothing wants to write there now
	}
	if o.code == 0 || !strings.Contains(o.out, "permission denied") {
		p.t.Errorf("doctor ends with %d: %s", o.code, o.out)
	}
	for part := range strings.SplitSeq(d.part, "/") {
		if part != "." && !strings.Contains(part, "*") && !strings.Contains(o.out, part) {
			p.t.Errorf("doctor does not name %s: %s", d.part, o.out)
		}
	}
}

// findsAgain is finds, as soon as a running agent has looked again.
func (p *patient) findsAgain(words ...string) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if o := p.run("--json", "ask", words[0]); strings.Contains(o.out, words[0]+" sleeps") {
			break
		}
	}
	p.finds(words...)
}
