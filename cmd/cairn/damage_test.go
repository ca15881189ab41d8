package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/cmd/cairn/command"
	"cairn/internal/paths"
)

// A patient is a memory of three notes whose space "personal" is about to be
// damaged. Every command opens it anew: there is no agent.
type patient struct {
	t     *testing.T
	home  paths.Home
	repo  string   // of the space
	ids   []string // of the notes, oldest first
	words []string // one in each note
	packs []string // one of each note, without extension
}

// An outcome is what a command of the program said and how it ended.
type outcome struct {
	code int
	out  string
	said string // on stderr
}

func (p *patient) run(args ...string) outcome {
	p.t.Helper()
	var out, said bytes.Buffer
	env := command.System()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &out, &said
	env.Getenv = func(name string) string {
		if name == "CAIRN_NO_AGENT" {
			return "1"
		}
		return ""
	}
	code := command.Main(append([]string{"--home", string(p.home)}, args...), env)
	return outcome{code: code, out: out.String(), said: said.String()}
}

// must runs a command that has to work and puts its JSON into v.
func (p *patient) must(v any, args ...string) {
	p.t.Helper()
	o := p.run(append([]string{"--json"}, args...)...)
	if o.code != 0 {
		p.t.Fatalf("cairn %v ends with %d: %s%s", args, o.code, o.out, o.said)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(o.out), v); err != nil {
			p.t.Fatalf("cairn %v: %v in %s", args, err, o.out)
		}
	}
}

// fails runs a command that has to end with an exit code and a word for why.
func (p *patient) fails(code int, word string, args ...string) {
	p.t.Helper()
	o := p.run(append([]string{"--json"}, args...)...)
	var answer struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(o.out), &answer); err != nil {
		p.t.Errorf("cairn %v ends with %d and no JSON: %q %q", args, o.code, o.out, o.said)
		return
	}
	if o.code != code || answer.Error.Code != word {
		p.t.Errorf("cairn %v ends with %d %q, want %d %q: %s", args, o.code, answer.Error.Code, code, word, o.out)
	}
	if answer.Error.Message == "" || answer.Error.Hint == "" && !strings.Contains(answer.Error.Message, "git") {
		p.t.Errorf("cairn %v does not say what to do: %s", args, o.out)
	}
}

func (p *patient) note(text string) string {
	p.t.Helper()
	var r struct{ ID string }
	p.must(&r, "note", text)
	return r.ID
}

// newPatient makes the memory, in which each note is a pack of its own.
func newPatient(t *testing.T) *patient {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT RUN: stock git is missing, and it is the judge here")
	}
	h := home(t)
	p := &patient{t: t, home: h, repo: h.Space("personal"), words: []string{"badger", "walrus", "ocelot"}}
	p.must(nil, "init")
	before := map[string]bool{}
	p.newPacks(before)
	for _, w := range p.words {
		p.ids = append(p.ids, p.note("the "+w+" sleeps by day"))
		p.packs = append(p.packs, p.newPacks(before)...)
	}
	if len(p.packs) != len(p.words) {
		t.Fatalf("the notes made the packs %v", p.packs)
	}
	return p
}

// copyOf is the same memory in another folder.
func (p *patient) copyOf(t *testing.T) *patient {
	t.Helper()
	h := home(t)
	if err := os.CopyFS(string(h), os.DirFS(string(p.home))); err != nil {
		t.Fatal(err)
	}
	q := *p
	q.t, q.home, q.repo = t, h, h.Space("personal")
	if err := os.Chmod(h.DeviceKey(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &q
}

func (p *patient) path(elem ...string) string {
	return filepath.Join(append([]string{p.repo}, elem...)...)
}

func (p *patient) git(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Dir = p.repo
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+p.t.TempDir(),
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.invalid")
	b, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, b)
	}
	return strings.TrimSpace(string(b))
}

// fsck requires that git finds nothing wrong.
func (p *patient) fsck() {
	p.t.Helper()
	for line := range strings.Lines(p.git("fsck", "--strict", "--no-dangling")) {
		if !strings.HasPrefix(line, "notice:") {
			p.t.Errorf("git fsck: %s", line)
		}
	}
}

// newPacks are the packs that were not there before, without extension, and
// without those of before from now on.
func (p *patient) newPacks(before map[string]bool) []string {
	p.t.Helper()
	all, err := filepath.Glob(p.path("objects", "pack", "*.pack"))
	if err != nil {
		p.t.Fatal(err)
	}
	var packs []string
	for _, path := range all {
		if name := strings.TrimSuffix(filepath.Base(path), ".pack"); !before[name] {
			before[name] = true
			packs = append(packs, name)
		}
	}
	return packs
}

// pack is the pack, without extension, in which the note of a word lies.
func (p *patient) pack(word string) string {
	return p.path("objects", "pack", p.packs[slices.Index(p.words, word)])
}

func (p *patient) write(content string, elem ...string) {
	p.t.Helper()
	path := p.path(elem...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), ignoreMissing(os.Remove(path)), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (p *patient) remove(path string) {
	p.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		p.t.Fatal(err)
	}
}

// cut leaves the first half of a file.
func (p *patient) cut(path string) {
	p.t.Helper()
	p.rewrite(path, func(b []byte) []byte { return b[:len(b)/2] })
}

// flip turns one bit in the middle of a file.
func (p *patient) flip(path string) {
	p.t.Helper()
	p.rewrite(path, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
}

func (p *patient) rewrite(path string, change func([]byte) []byte) {
	p.t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.WriteFile(path, change(b), 0o444))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// whole requires that every note is found, that saving works, and that git
// agrees.
func (p *patient) whole() {
	p.t.Helper()
	p.note("the pangolin sleeps by night")
	p.finds(append(slices.Clone(p.words), "pangolin")...)
	p.fsck()
}

func (p *patient) finds(words ...string) {
	p.t.Helper()
	var answer struct{ Hits []struct{ Title string } }
	p.must(&answer, "ask", "-n", "20", strings.Join(words, " "))
	for _, w := range words {
		n := 0
		for _, h := range answer.Hits {
			if strings.Contains(h.Title, w) {
				n++
			}
		}
		if n != 1 {
			p.t.Errorf("%q is found %d times: %v", w, n, answer.Hits)
		}
	}
}

// doctor runs the doctor and requires that it does not call everything well.
// It returns what it says of the checks that failed.
func (p *patient) doctor(args ...string) string {
	p.t.Helper()
	o := p.run(append([]string{"--json", "doctor"}, args...)...)
	var report struct {
		OK     bool
		Checks []struct {
			Name, Detail, Fix string
			OK                bool
		}
	}
	if err := json.Unmarshal([]byte(o.out), &report); err != nil {
		p.t.Fatalf("doctor: %v in %q %q", err, o.out, o.said)
	}
	if report.OK || o.code == 0 {
		p.t.Errorf("doctor %v finds nothing wrong: %s", args, o.out)
	}
	var bad []string
	for _, c := range report.Checks {
		if !c.OK {
			bad = append(bad, c.Name+": "+c.Detail+" | "+c.Fix)
			if c.Fix == "" {
				p.t.Errorf("doctor does not say what to do: %s: %s", c.Name, c.Detail)
			}
		}
	}
	return strings.Join(bad, "\n")
}

// well requires that the doctor finds nothing wrong.
func (p *patient) well(args ...string) {
	p.t.Helper()
	if o := p.run(append([]string{"--json", "doctor"}, args...)...); o.code != 0 {
		p.t.Errorf("doctor %v: %s%s", args, o.out, o.said)
	}
}

// A damage is one row of the table.
type damage struct {
	name string
	do   func(*patient)
	// What "note" ends with before anybody mends; 0 if it works.
	code int
	word string
	// args of the doctor that names it; says is in what it names it by.
	args []string
	says string
	// aside are words that are not found before it is mended.
	aside []string
	// undo is what a person does; nil if the doctor has mended it.
	undo func(*patient)
}

var damages = []damage{
	{name: "an empty branch", do: func(p *patient) { p.write("", "refs", "heads", "main") },
		code: 8, word: "garbled_ref", says: "main"},
	{name: "a branch full of zeros", do: func(p *patient) { p.write(strings.Repeat("\x00", 41), "refs", "heads", "main") },
		code: 8, word: "garbled_ref", says: "main"},
	{name: "a missing branch", do: func(p *patient) { p.remove(p.path("refs", "heads", "main")) },
		code: 8, word: "corrupt", says: "main"},
	{name: "an empty HEAD", do: func(p *patient) { p.write("", "HEAD") },
		code: 8, word: "garbled_ref", says: "HEAD"},
	{name: "a missing HEAD", do: func(p *patient) { p.remove(p.path("HEAD")) },
		code: 8, word: "foreign", says: "HEAD"},
	{name: "HEAD and branch empty", do: func(p *patient) { p.write("", "HEAD"); p.write("", "refs", "heads", "main") },
		code: 8, word: "garbled_ref", says: "HEAD"},
	{name: "a detached HEAD", do: func(p *patient) { p.write(p.git("rev-parse", "HEAD")+"\n", "HEAD") },
		code: 8, word: "detached", says: "symbolic-ref",
		undo: func(p *patient) { p.git("symbolic-ref", "HEAD", "refs/heads/main") }},
	{name: "an unborn branch", do: func(p *patient) { p.git("symbolic-ref", "HEAD", "refs/heads/other") },
		code: 8, word: "detached", says: "refs/heads/other",
		undo: func(p *patient) { p.git("symbolic-ref", "HEAD", "refs/heads/main") }},
	{name: "a garbled word of where the remote was", do: func(p *patient) { p.withRemote(); p.write("", "refs", "remotes", "origin", "main") },
		says: "refs/remotes/origin/main"},
	{name: "half a word of where the remote was", do: func(p *patient) { p.withRemote(); p.cut(p.path("refs", "remotes", "origin", "main")) },
		says: "refs/remotes/origin/main"},
	{name: "a branch of somebody's that is garbled", do: func(p *patient) { p.write("", "refs", "heads", "other") },
		says: "refs/heads/other",
		undo: func(p *patient) { p.remove(p.path("refs", "heads", "other")) }},
	{name: "a garbled word of what was purged", do: func(p *patient) { p.write("", "refs", "cairn", "epoch") },
		code: 8, word: "garbled_ref", says: "refs/cairn/epoch",
		undo: func(p *patient) { p.remove(p.path("refs", "cairn", "epoch")) }},
	{name: "a garbled line among packed refs", do: func(p *patient) {
		p.git("pack-refs", "--all")
		p.write(p.read("packed-refs")+"nothing that is a ref\n", "packed-refs")
	}, code: 8, word: "garbled_ref", says: "line 3 of",
		undo: func(p *patient) {
			p.write(strings.TrimSuffix(p.read("packed-refs"), "nothing that is a ref\n"), "packed-refs")
		}},
	{name: "the newest pack has no index", do: func(p *patient) { p.remove(p.pack("ocelot") + ".idx") },
		code: 8, word: "corrupt", says: "no index"},
	{name: "an older pack has no index", do: func(p *patient) { p.remove(p.pack("badger") + ".idx") },
		says: "no index", aside: []string{"badger"}},
	{name: "half an index", do: func(p *patient) { p.cut(p.pack("ocelot") + ".idx") },
		code: 8, word: "corrupt", says: ".idx"},
	{name: "an empty index", do: func(p *patient) { p.rewrite(p.pack("walrus")+".idx", func([]byte) []byte { return nil }) },
		says: ".idx", aside: []string{"walrus"}},
	{name: "a flipped bit in an index", do: func(p *patient) { p.flip(p.pack("walrus") + ".idx") },
		says: ".idx", aside: []string{"walrus"}},
	{name: "a lock file of another program", do: func(p *patient) { p.write("", "refs", "heads", "main.lock") },
		code: 5, word: "busy", says: "main.lock",
		undo: func(p *patient) { p.remove(p.path("refs", "heads", "main.lock")) }},
	{name: "a shallow clone", do: func(p *patient) { p.write(p.git("rev-parse", "HEAD")+"\n", "shallow") },
		code: 8, word: "shallow", says: "shallow",
		undo: func(p *patient) { p.remove(p.path("shallow")) }},
	{name: "a partial clone", do: func(p *patient) { p.git("config", "remote.origin.promisor", "true") },
		code: 8, word: "shallow", says: "partial",
		undo: func(p *patient) { p.git("config", "--unset", "remote.origin.promisor") }},
	{name: "a repository of SHA-256", do: func(p *patient) {
		p.git("config", "core.repositoryformatversion", "1")
		p.write(p.read("config")+"[extensions]\n\tobjectformat = sha256\n", "config")
	}, code: 8, word: "foreign", says: "sha256",
		undo: func(p *patient) { p.write(strings.Split(p.read("config"), "[extensions]")[0], "config") }},
	{name: "a repository with reftables", do: func(p *patient) {
		p.write(p.read("config")+"[extensions]\n\trefstorage = reftable\n", "config")
	}, code: 8, word: "foreign", says: "reftable",
		undo: func(p *patient) { p.write(strings.Split(p.read("config"), "[extensions]")[0], "config") }},
	{name: "another space's history", do: func(p *patient) {
		p.rename(p.repo, p.repo+".away")
		p.copyDir(p.home.Space("local"), p.repo)
	}, code: 8, word: "foreign", says: "local",
		undo: func(p *patient) { p.remove(p.repo); p.rename(p.repo+".away", p.repo) }},
	{name: "the repository is gone", do: func(p *patient) { p.rename(p.repo, p.home.Space("away")+".not") },
		code: 8, word: "corrupt", says: "gone",
		undo: func(p *patient) { p.rename(p.home.Space("away")+".not", p.repo) }},
	{name: "the pack of the newest note is gone", do: func(p *patient) { p.hide(p.pack("ocelot")) },
		code: 8, word: "corrupt", says: "missing", undo: (*patient).unhide},
}

func (p *patient) read(elem ...string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(elem...))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func (p *patient) rename(from, to string) {
	p.t.Helper()
	if err := os.Rename(from, to); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) copyDir(from, to string) {
	p.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		p.t.Fatal(err)
	}
}

// hide takes a pack away; unhide brings it back.
func (p *patient) hide(base string) {
	for _, ext := range []string{".pack", ".idx"} {
		p.rename(base+ext, filepath.Join(string(p.home), "hidden-"+filepath.Base(base)+ext))
	}
}

func (p *patient) unhide() {
	hidden, err := filepath.Glob(filepath.Join(string(p.home), "hidden-*"))
	if err != nil || len(hidden) == 0 {
		p.t.Fatalf("nothing is hidden: %v", err)
	}
	for _, h := range hidden {
		p.rename(h, p.path("objects", "pack", strings.TrimPrefix(filepath.Base(h), "hidden-")))
	}
}

// Whatever happened to the repository: a note is saved or refused for a stated
// reason, no question is answered as if there were no notes, the doctor names
// the damage and mends what it can; and in the end every note is there.
func TestDamagedRepositories(t *testing.T) {
	t.Parallel()
	healthy := newPatient(t)
	healthy.well("--deep")
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := healthy.copyOf(t)
			d.do(p)
			d.before(p)
			said := p.doctor(d.args...)
			if !strings.Contains(said, d.says) {
				t.Errorf("doctor does not speak of %q: %s", d.says, said)
			}
			if d.undo != nil {
				if d.code != 0 {
					p.fails(d.code, d.word, "note", "the marmot is not mended yet")
				}
				d.undo(p)
			}
			p.well(d.args...)
			p.whole()
		})
	}
}

// before looks at the commands while nobody has mended anything.
func (d damage) before(p *patient) {
	p.t.Helper()
	if d.code == 0 {
		p.note("a marmot in between")
	} else {
		p.fails(d.code, d.word, "note", "a marmot in between")
	}
	if d.code != 8 {
		p.finds(slices.DeleteFunc(slices.Clone(p.words), func(w string) bool { return slices.Contains(d.aside, w) })...)
		return
	}
	if o := p.run("--json", "ask", "nothingofthiskind"); o.code == 0 && !strings.Contains(o.out, `"note"`) {
		p.t.Errorf("ask takes it for an empty memory: %s", o.out)
	}
	var status struct {
		Spaces []struct {
			Name      string
			LastError string `json:"last_error"`
		}
	}
	p.must(&status, "status")
	for _, s := range status.Spaces {
		if s.Name == "personal" && s.LastError != "" {
			return
		}
	}
	p.t.Errorf("status knows of nothing: %+v", status)
}

// withRemote gives the memory a plain repository that has everything of it.
func (p *patient) withRemote() string {
	p.t.Helper()
	remote := filepath.Join(p.t.TempDir(), "remote.git")
	p.must(nil, "remote", "add", "origin", remote)
	p.must(nil, "sync")
	return remote
}

// Objects whose bytes are wrong or gone are named; the rest of the memory goes
// on, and what a remote has comes back.
func TestLostObjects(t *testing.T) {
	t.Parallel()
	healthy := newPatient(t)
	for name, do := range map[string]func(*patient){
		"a flipped bit in a pack": func(p *patient) { p.flip(p.pack("walrus") + ".pack") },
		"half a pack":             func(p *patient) { p.cut(p.pack("walrus") + ".pack") },
		"an empty pack":           func(p *patient) { p.rewrite(p.pack("walrus")+".pack", func([]byte) []byte { return nil }) },
		"a deleted pack":          func(p *patient) { p.hide(p.pack("walrus")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := healthy.copyOf(t)
			do(p)
			p.note("saving a pangolin goes on")
			p.finds("badger", "ocelot", "pangolin")
			if said := p.doctor("--deep"); !strings.Contains(said, "backup") {
				t.Errorf("doctor does not say where help could be: %s", said)
			}
			p.finds("badger", "ocelot", "pangolin")
		})
		t.Run(name+" that a remote has", func(t *testing.T) {
			t.Parallel()
			p := healthy.copyOf(t)
			p.withRemote()
			do(p)
			if said := p.doctor("--deep"); !strings.Contains(said, "fetched again") {
				t.Errorf("doctor did not fetch what was lost: %s", said)
			}
			p.well("--deep")
			p.whole()
			p.must(nil, "sync")
		})
	}
}

// The newest pack is needed by every use, so a doctor that does not look deep
// finds it as well.
func TestALostHeadComesBackFromTheRemote(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.withRemote()
	p.hide(p.pack("ocelot"))
	p.fails(8, "corrupt", "note", "a marmot in between")
	p.fails(8, "corrupt", "sync")
	if said := p.doctor(); !strings.Contains(said, "fetched again") {
		t.Errorf("doctor says %s", said)
	}
	p.well()
	p.whole()
}

// One event that is no event does not keep the others from being found.
func TestACorruptEventIsSetAside(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	path := ""
	for line := range strings.Lines(p.git("ls-tree", "-r", "--name-only", "HEAD")) {
		if strings.Contains(line, p.ids[1]) {
			path = strings.TrimSpace(line)
		}
	}
	p.git("read-tree", "HEAD")
	for at, text := range map[string]string{path: `{"schema": 1, "id": "`, "events/README.md": "not an event"} {
		file := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		blob := p.git("hash-object", "-w", file)
		p.git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+at)
	}
	commit := p.git("commit-tree", "-p", "HEAD", "-m", "by hand", p.git("write-tree"))
	p.git("update-ref", "refs/heads/main", commit)
	p.remove(p.path("index"))

	p.note("saving a pangolin goes on")
	p.finds("badger", "ocelot", "pangolin")
	p.fails(8, "corrupt", "show", p.ids[1])
	p.fails(8, "corrupt", "show", p.ids[1][len(p.ids[1])-8:])
	o := p.run("export", "jsonl", "-")
	if o.code != 8 || !strings.Contains(o.out, "badger") || !strings.Contains(o.out, "ocelot") {
		t.Errorf("export ends with %d: %s%s", o.code, o.out, o.said)
	}
	if o := p.run("status"); !strings.Contains(o.out, "2 damaged") {
		t.Errorf("status: %s", o.out)
	}
	for _, args := range [][]string{nil, {"--deep"}} {
		said := p.doctor(args...)
		if !strings.Contains(said, path) || !strings.Contains(said, "README.md") {
			t.Errorf("doctor %v does not name both files: %s", args, said)
		}
	}
	p.finds("badger", "ocelot", "pangolin")
}

// A branch that may have been at either of two commits is left to a person,
// who is told both.
func TestAnUncertainBranchIsNotGuessed(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	right := p.git("rev-parse", "HEAD")
	p.git("update-ref", "refs/heads/main", right+"~1")
	p.note("the lynx goes another way")
	other := p.git("rev-parse", "HEAD")
	p.write("", "refs", "heads", "main")
	p.remove(p.home.Facts("personal"))
	p.remove(p.home.Index())
	said := p.doctor()
	if !strings.Contains(said, "delete "+p.path("refs", "heads", "main")) {
		t.Errorf("doctor does not say that the file has to go first: %s", said)
	}
	for _, head := range []string{right, other} {
		if !strings.Contains(said, "git -C "+p.repo+" update-ref refs/heads/main "+head) {
			t.Errorf("doctor does not offer %s: %s", head, said)
		}
	}
	p.fails(8, "garbled_ref", "note", "a marmot in between")
	p.remove(p.path("refs", "heads", "main")) // git sets no ref that is broken
	p.git("update-ref", "refs/heads/main", other)
	p.finds("badger", "walrus", "lynx")
	p.git("update-ref", "refs/heads/main", right)
	p.finds("badger", "walrus", "ocelot")
	p.well()
}

// A remote whose history was rewritten is not followed; saving goes on.
func TestARewrittenRemoteStopsTheSyncAndNothingElse(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	remote := p.withRemote()
	cmd := exec.CommandContext(t.Context(), "git", "update-ref", "refs/heads/main", p.git("rev-parse", "HEAD~1"))
	cmd.Dir = remote
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	before := p.git("rev-parse", "HEAD")
	p.fails(8, "corrupt", "sync")
	if p.git("rev-parse", "HEAD") != before {
		t.Error("the rewritten history was followed")
	}
	p.whole()
	p.fails(8, "corrupt", "sync")
}
