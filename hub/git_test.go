package hub_test

import (
	"context"
	"encoding/pem"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/policy/secrets/secretstest"
	"cairn/sync/eventlog"
)

// A worker is a person with stock git and stock ssh, and a bare clone.
type worker struct {
	t    *testing.T
	h    *house
	name string
	ssh  string // GIT_SSH_COMMAND
	home string
	repo string
}

// worker skips the test where there is no stock git.
func (h *house) worker(name string) *worker {
	h.t.Helper()
	for _, tool := range []string{"git", "ssh"} {
		if _, err := exec.LookPath(tool); err != nil {
			h.t.Skipf("SKIPPED: no %s on this machine, so stock git was not tried", tool)
		}
	}
	w := &worker{t: h.t, h: h, name: name, home: h.t.TempDir()}
	block, err := gossh.MarshalPrivateKey(eventtest.Key(name), "")
	if err != nil {
		h.t.Fatal(err)
	}
	key, known := filepath.Join(w.home, "key"), filepath.Join(w.home, "known_hosts")
	host, port, err := net.SplitHostPort(h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	line := "[" + host + "]:" + port + " " + string(gossh.MarshalAuthorizedKey(hostKeyOf(h)))
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(known, []byte(line), 0o600); err != nil {
		h.t.Fatal(err)
	}
	w.ssh = "ssh -F none -i '" + key + "' -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile='" + known + "'"
	return w
}

func hostKeyOf(h *house) gossh.PublicKey {
	raw, err := os.ReadFile(filepath.Join(h.dir, "host_key"))
	if err != nil {
		h.t.Fatal(err)
	}
	signer, err := gossh.ParsePrivateKey(raw)
	if err != nil {
		h.t.Fatal(err)
	}
	return signer.PublicKey()
}

// url is the space's address for git.
func (w *worker) url(space string) string { return "ssh://cairn@" + w.h.addr + "/" + space }

// run runs git in the clone and returns all it says.
func (w *worker) run(args ...string) (string, error) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.home
	if w.repo != "" {
		cmd.Dir = w.repo
	}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_SSH_COMMAND=" + w.ssh, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_TERMINAL_PROMPT=0",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *worker) git(args ...string) string {
	w.t.Helper()
	out, err := w.run(args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// clone makes the bare clone that the other commands work in.
func (w *worker) clone(space string) *worker {
	w.t.Helper()
	dir := filepath.Join(w.home, space+".git")
	w.git("clone", "--quiet", "--bare", w.url(space), dir)
	w.repo = dir
	return w
}

// append saves notes in the clone as cairn does.
func (w *worker) append(events ...event.Event) {
	w.t.Helper()
	l, err := eventlog.Open(disk.OS, w.repo, events[0].Space)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	if err != nil {
		w.t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) note(text string) { w.append(note("team", w.name, text)) }

// fsck is stock git's opinion of the clone and of the hub's repository.
func (w *worker) fsck() {
	w.t.Helper()
	for _, dir := range []string{w.repo, filepath.Join(w.h.dir, "spaces", "team.git")} {
		if out := w.git("-C", dir, "fsck", "--strict", "--full"); strings.Contains(out, "dangling") || strings.Contains(out, "error") {
			w.t.Errorf("git fsck in %s:\n%s", dir, out)
		}
	}
}

// refused runs a push that must fail, say these words and leave nothing. It
// returns all that git said.
func (w *worker) refused(args []string, words ...string) string {
	w.t.Helper()
	before := w.h.files()
	out, err := w.run(args...)
	if err == nil {
		w.t.Errorf("git %s is taken:\n%s", strings.Join(args, " "), out)
	}
	wants(w.t, "git "+strings.Join(args, " "), out, words...)
	if !maps.Equal(before, w.h.files()) {
		w.t.Errorf("git %s leaves something at the hub", strings.Join(args, " "))
	}
	return out
}

func TestStockGitClonesFetchesAndPushes(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Write, "desktop", "team")
	a, b := h.worker("laptop").clone("team"), h.worker("desktop").clone("team")
	a.note("one")
	a.git("push", "--quiet", "origin", "main")
	b.git("fetch", "--quiet", "origin", "main:main")
	if a.git("rev-parse", "main") != b.git("rev-parse", "main") {
		t.Error("the second clone is not level")
	}
	a.note("two")
	b.note("three")
	wants(t, "a fast-forward for main", a.git("push", "origin", "HEAD:refs/for/main"), "HEAD -> main")
	wants(t, "a join", b.git("push", "origin", "HEAD:refs/for/main"), "joined with what came before")
	for _, w := range []*worker{a, b} {
		w.git("-c", "protocol.version=2", "fetch", "--quiet", "origin", "main:main")
		if n := w.git("ls-tree", "-r", "--name-only", "main", "events/"); strings.Count(n, ".json") != 3 {
			t.Errorf("%s has\n%s", w.name, n)
		}
	}
	wants(t, "an up-to-date push", a.git("-c", "protocol.version=2", "push", "origin", "main"), "Everything up-to-date")
	a.fsck()
	b.fsck()
	w := h.worker("laptop")
	w.git("-c", "protocol.version=2", "clone", "--quiet", w.url("team.git"), "work")
	if names, err := filepath.Glob(filepath.Join(w.home, "work", "events", "*", "*", "*", "*.json")); err != nil || len(names) != 3 {
		t.Errorf("the work tree holds %v, %v", names, err)
	}
	if out, err := w.run("clone", "--quiet", "--depth=1", w.url("team"), "shallow"); err == nil {
		t.Error("a shallow clone is given")
	} else {
		wants(t, "a shallow clone", out, "shallow")
	}
}

func TestWhatStockGitMayNotPush(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Write, "desktop", "team")
	w := h.worker("laptop").clone("team")
	w.note("one")
	w.git("push", "--quiet", "origin", "main")
	first := w.git("rev-parse", "main")
	other := h.worker("desktop").clone("team")
	w.note("two")
	w.refused([]string{"push", "origin", ":refs/heads/main"}, "delet")
	w.refused([]string{"push", "origin", "HEAD:HEAD"}, "HEAD is not a branch", "git switch main")
	w.refused([]string{"push", "origin", "main:topic"}, "only main is taken", "HEAD:refs/for/main")
	w.refused([]string{"push", "origin", "HEAD:refs/notes/x"}, "only main is taken")
	w.git("tag", "v1")
	w.refused([]string{"push", "origin", "v1"}, "tags are not taken")
	w.refused([]string{"push", "--tags", "origin", "main"}, "tags are not taken", "refused because of the others")
	w.refused([]string{"push", "--mirror", "origin"}, "tags are not taken")
	w.refused([]string{"push", "origin", "main", "main:refs/for/main"}, "one ref at a time")
	w.git("push", "--quiet", "origin", "main")
	w.refused([]string{"push", "--force", "origin", first + ":refs/heads/main"}, "not a fast-forward", "HEAD:refs/for/main")
	other.note("three")
	other.refused([]string{"push", "--force", "origin", "main"}, "not a fast-forward", "HEAD:refs/for/main")
	if refs := w.git("ls-remote", "origin"); strings.Count(refs, "\n") != 1 || !strings.Contains(refs, "refs/heads/main") {
		t.Errorf("the hub shows\n%s", refs)
	}
	w.fsck()
}

// Plain git, without any of our code on its side, cannot bring a secret in.
func TestPlainGitCannotPushASecret(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	secret := secretstest.Generate(secretstest.Rules()[0], rand.New(rand.NewPCG(1, 2)))
	w := h.worker("laptop")
	w.git("clone", "--quiet", w.url("team"), "work")
	w.repo = filepath.Join(w.home, "work")
	for name, commit := range map[string]func(){
		"added and removed again": func() {
			w.file("notes.txt", "the key is "+secret)
			w.git("rm", "--quiet", "notes.txt")
			w.git("commit", "--quiet", "-m", "clean")
		},
		"in a message":  func() { w.git("commit", "--quiet", "--allow-empty", "-m", "key "+secret) },
		"as the author": func() { w.git("commit", "--quiet", "--allow-empty", "--author", "key "+secret+" <a@b>", "-m", "x") },
		"in a path":     func() { w.file(url.PathEscape(secret), "fine") },
		"in a tag":      func() { w.git("tag", "-a", "v1", "-m", "key "+secret) },
	} {
		commit()
		what := "HEAD"
		if name == "in a tag" {
			what = "v1"
		}
		out := w.refused([]string{"push", "origin", what + ":refs/for/main"}, "nothing of this push was stored")
		if strings.Contains(out, secret) {
			t.Errorf("%s: git is shown the secret:\n%s", name, out)
		}
		if !saysSecret(out) {
			t.Errorf("%s: no finding is about the secret:\n%s", name, out)
		}
		h.noTraceOf(secret)
		w.git("reset", "--quiet", "--hard", "origin/main")
	}
	h.worker("laptop").clone("team").fsck()
}

// file commits a file in a work tree.
func (w *worker) file(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.repo, name), []byte(text+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.git("add", ".")
	w.git("commit", "--quiet", "-m", "x")
}

var remoteLine = regexp.MustCompile(`(?m)^remote: (cairn: refused .*?) *$`)

func refusals(out string) []hubwire.Refusal {
	var list []hubwire.Refusal
	for _, m := range remoteLine.FindAllStringSubmatch(out, -1) {
		if r, ok := hubwire.ParseRefusal(m[1]); ok {
			list = append(list, r)
		}
	}
	return list
}

// saysSecret says whether a finding names a rule that is not about form.
func saysSecret(out string) bool {
	form := []string{"commit-form", "append-only", "path", "unreachable", "object-form", "foreign-history", "merge-form", "event-form"}
	return slices.ContainsFunc(refusals(out), func(r hubwire.Refusal) bool { return !slices.Contains(form, r.Rule) })
}

func TestARefusalTellsAProgramEverything(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop").clone("team")
	secret := secretstest.Generate(secretstest.Rules()[0], rand.New(rand.NewPCG(3, 4)))
	bad := note("team", "laptop", "the key is "+secret)
	w.append(note("team", "laptop", "fine"), bad)
	out, err := w.run("push", "origin", "main")
	if err == nil {
		t.Fatal("taken")
	}
	list := refusals(out)
	if len(list) == 0 || list[0].Event != bad.ID || !strings.Contains(out, "nothing of this push was stored") {
		t.Errorf("refusals %+v\n%s", list, out)
	}
	page, err := h.Admin().Records(context.Background(), audit.Filter{Action: "push"})
	if err != nil || len(page.Records) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	r := page.Records[0]
	if r.Verdict != audit.Refused || r.Person != "ana" || r.Device != eventtest.Device("laptop") || r.Space != "team" ||
		r.Ref != event.MainRef || !slices.Contains(r.Events, bad.ID) || len(r.Rules) == 0 || r.Addr == "" {
		t.Errorf("record %+v", r)
	}
	h.noTraceOf(secret)
}

func TestWhoeverBringsAnEventItsSignerIsJudged(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	h.member("bo", devices.Write, "desktop", "team")
	h.member("cy", devices.Read, "reader", "team")
	bo := h.worker("desktop").clone("team")
	bo.append(note("team", "laptop", "ana wrote and signed this"))
	bo.git("push", "--quiet", "origin", "main")
	start := bo.git("rev-parse", "main")
	for rule, e := range map[string]event.Event{
		"unknown-device": note("team", "stranger", "hello"),
		"no-right":       note("team", "reader", "hello"),
	} {
		bo.append(e)
		bo.refused([]string{"push", "origin", "main"}, "rule="+rule, "id="+string(e.ID))
		bo.git("update-ref", "refs/heads/main", start)
	}
	if _, err := h.Admin().Revoke(context.Background(), operator, string(eventtest.Device("laptop"))); err != nil {
		t.Fatal(err)
	}
	late := note("team", "laptop", "hello again")
	bo.append(late)
	bo.refused([]string{"push", "origin", "main"}, "rule=revoked-device", "id="+string(late.ID))
}

func TestRightsAtTheDoor(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("cy", devices.Read, "reader", "team")
	if _, err := h.Admin().CreateSpace(context.Background(), operator, "docs"); err != nil {
		t.Fatal(err)
	}
	w := h.worker("reader").clone("team")
	w.append(note("team", "reader", "hello"))
	w.refused([]string{"push", "origin", "main"}, "cy may read the space team and not write", "hub grant cy team write", string(eventtest.Device("reader")))
	for _, space := range []string{"docs", "nothing"} {
		out, err := h.worker("reader").run("ls-remote", w.url(space))
		if err == nil {
			t.Errorf("%s is shown", space)
		}
		wants(t, space, out, "no space of that name that you may use")
	}
	out, err := h.worker("stranger").run("ls-remote", w.url("team"))
	if err == nil {
		t.Error("a stranger gets in")
	}
	wants(t, "a stranger", out, "does not know the key SHA256:")
}
