package hub_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/secrets/secretstest"
	"cairn/sync/gitstore"
)

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

// A push judges by the rights of the moment at which it has arrived: git says
// hello, and only sends the pack when the right is gone.
func TestARightThatEndsDuringAPushIsGone(t *testing.T) {
	t.Parallel()
	h := open(t, hub.Options{})
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop").clone("team")
	w.note("too late")
	begun, goOn := filepath.Join(w.home, "begun"), filepath.Join(w.home, "go")
	w.hook("pre-push", "touch '"+begun+"'; until test -e '"+goOn+"'; do sleep 0.05; done")
	refused := make(chan string, 1)
	go func() {
		out, err := w.run("push", "origin", "main")
		if err == nil {
			out = "taken"
		}
		refused <- out
	}()
	for exists := false; !exists; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(begun)
		exists = err == nil
	}
	if _, err := h.Admin().Grant(context.Background(), operator, "ana", "team", devices.Read); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, "the hub", <-refused, "ana may read the space team and not write")
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

// tooMuch is a push of so many bytes to a hub that takes one MiB, and what git says of it.
func tooMuch(t *testing.T, bytes int, prepare func(*worker)) string {
	t.Helper()
	h := open(t, hub.Options{Pushes: repository.Limits{Pack: gitstore.Limits{Bytes: 1 << 20}}})
	h.member("ana", devices.Write, "laptop", "team")
	w := h.worker("laptop")
	w.git("clone", "--quiet", w.url("team"), "work")
	w.repo = filepath.Join(w.home, "work")
	noise := make([]byte, bytes)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise) // never fails
	w.git("config", "core.compression", "0")
	w.file("noise.bin", string(noise))
	prepare(w)
	return w.refused([]string{"push", "origin", "HEAD:refs/for/main"}, "rule=limit", "the limit is", "push fewer events at once", "[remote rejected]")
}

// Who pushes far more than the hub takes is shown why, and not that the connection broke: the hub does not
// read to the end of it. An older git asks for no answer then, and shows what ssh is told.
func TestStockGitIsToldWhyAHugePushIsRefused(t *testing.T) {
	t.Parallel()
	out := tooMuch(t, 16<<20, func(*worker) {})
	if strings.Contains(strings.ToLower(out), "broken pipe") {
		t.Errorf("git complains of the connection:\n%s", out)
	}
	if !strings.HasPrefix(out, "cairn: pack refused") && !strings.Contains(out, "\ncairn: pack refused") {
		t.Errorf("ssh is not told:\n%s", out)
	}
}

// Who pushes somewhat more than the hub takes may send all of it: an older git asks for no answer otherwise.
func TestAPushThatIsSomewhatTooLargeIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	tooMuch(t, 7<<20, func(w *worker) { w.git("config", "--global", "trace2.eventTarget", trace) })
	log, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var sender, codes []int
	for line := range strings.Lines(string(log)) {
		var e struct {
			Event string
			Child int `json:"child_id"`
			Argv  []string
			Code  int
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Event == "child_start" && slices.Contains(e.Argv, "pack-objects"):
			sender = append(sender, e.Child)
		case e.Event == "child_exit" && slices.Contains(sender, e.Child):
			codes = append(codes, e.Code)
		}
	}
	if !slices.Equal(codes, []int{0}) {
		t.Errorf("what sends the pack ended with %v, want 0 once", codes)
	}
}
