package hub_test

import (
	"context"
	"encoding/pem"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
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

// hook makes the clone run a line of shell at the named moment.
func (w *worker) hook(name, line string) {
	w.t.Helper()
	dir := filepath.Join(w.repo, "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
		w.t.Fatal(err)
	}
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
	before := w.h.atRest()
	out, err := w.run(args...)
	if err == nil {
		w.t.Errorf("git %s is taken:\n%s", strings.Join(args, " "), out)
	}
	wants(w.t, "git "+strings.Join(args, " "), out, words...)
	if after := w.h.atRest(); !maps.Equal(before, after) {
		w.t.Errorf("git %s leaves something at the hub: %s", strings.Join(args, " "), differing(before, after))
	}
	return out
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
