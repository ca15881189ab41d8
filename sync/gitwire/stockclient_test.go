package gitwire_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"cairn/sync/gitwire"
)

func TestStockGitClonesAndFetches(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0", "1", "2"} {
		t.Run("protocol "+version, func(t *testing.T) {
			t.Parallel()
			r, dir, asked := cloned(t)
			git(t, dir, "config", "protocol.version", version)
			if branch := git(t, dir, "symbolic-ref", "HEAD"); branch != "refs/heads/main" {
				t.Errorf("the clone is on %s", branch)
			}
			tip := r.commit(t, "events/01/second")
			git(t, dir, "pull", "-q", "--ff-only")
			if head := git(t, dir, "rev-parse", "HEAD"); head != tip.String() {
				t.Errorf("the clone is at %s, want %s", head, tip)
			}
			if r.lastSent() != 5 { // commit, three trees, blob
				t.Errorf("one commit was fetched with %d objects", r.lastSent())
			}
			git(t, dir, "fetch", "-q") // nothing new
			git(t, dir, "fsck", "--strict", "--full")
			for _, request := range asked() {
				if strings.Contains(request, ": ") {
					t.Errorf("a request failed: %s", request)
				}
			}
			if last := asked()[len(asked())-1]; version != "0" && !strings.Contains(last, "version="+version) {
				t.Errorf("the client asked %q", last)
			}
		})
	}
}

func TestStockGitClonesAnEmptyRepository(t *testing.T) {
	t.Parallel()
	r := newRepo()
	url, _ := daemon(t, r)
	dir := t.TempDir()
	if out := git(t, dir, "clone", url, "clone"); !strings.Contains(out, "empty repository") {
		t.Errorf("git says %s", out)
	}
	clone := filepath.Join(dir, "clone")
	git(t, clone, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, clone, "push", "-q", "origin", "HEAD:refs/heads/main")
	if r.main().String() != git(t, clone, "rev-parse", "HEAD") {
		t.Error("the first push is not there")
	}
}

func TestStockGitTakesTheServersBranch(t *testing.T) {
	t.Parallel()
	r := newRepo()
	r.head = "refs/heads/trunk"
	tip := r.commit(t, "a")
	r.set(t, "refs/heads/main", tip)
	url, _ := daemon(t, r)
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "-q", url, dir)
	if branch := git(t, dir, "symbolic-ref", "HEAD"); branch != "refs/heads/trunk" {
		t.Errorf("the clone is on %s", branch)
	}
}

// commitMany adds empty commits to main; from says what the first is based on.
func commitMany(t *testing.T, dir string, n int, from string) {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter a <a@b.invalid> %d +0000\ndata 0\n%s\n", i, from)
		from = "" // fast-import goes on where it is
	}
	if out, err := stockGitReading(t, dir, b.String(), "fast-import", "--quiet", "--force"); err != nil {
		t.Fatalf("fast-import: %v\n%s", err, out)
	}
}

func TestStockGitFetchesIntoADivergedClone(t *testing.T) {
	t.Parallel()
	r, dir, _ := cloned(t)
	commitMany(t, dir, 40, "from refs/heads/main^0\n") // more than one round of haves
	tip := r.commit(t, "events/01/second")
	git(t, dir, "fetch", "-q")
	if got := git(t, dir, "rev-parse", "origin/main"); got != tip.String() || r.lastSent() != 5 {
		t.Errorf("fetched %s with %d objects", got, r.lastSent())
	}
}

func TestStockGitFetchesWithNothingInCommon(t *testing.T) {
	t.Parallel()
	r := newRepo()
	tip := r.commit(t, "a")
	url, _ := daemon(t, r)
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	commitMany(t, dir, 20, "")
	git(t, dir, "fetch", "-q", url, "main")
	if got := git(t, dir, "rev-parse", "FETCH_HEAD"); got != tip.String() {
		t.Errorf("fetched %s", got)
	}
}

func TestStockGitSeesManyRefs(t *testing.T) {
	t.Parallel()
	r := newRepo()
	for i := range 300 {
		r.set(t, fmt.Sprintf("refs/heads/b%03d", i), r.commit(t, fmt.Sprint(i)))
	}
	url, _ := daemon(t, r)
	dir := t.TempDir()
	if out := git(t, dir, "ls-remote", url); len(strings.Split(out, "\n")) != 302 {
		t.Errorf("git sees %s", out)
	}
	git(t, dir, "clone", "-q", "--mirror", url, "mirror")
	if out := git(t, filepath.Join(dir, "mirror"), "for-each-ref"); len(strings.Split(out, "\n")) != 301 {
		t.Errorf("the mirror has %s", out)
	}
}

func TestStockGitHearsWhatIsNotSupported(t *testing.T) {
	t.Parallel()
	r := newRepo()
	r.commit(t, "a")
	url, _ := daemon(t, r)
	dir := t.TempDir()
	if out, err := stockGit(t, dir, "clone", "--depth", "1", url, "shallow"); err == nil || !strings.Contains(out, "shallow") {
		t.Errorf("shallow clone: %v, %s", err, out)
	}
	if out := git(t, dir, "clone", "--filter=blob:none", url, "partial"); !strings.Contains(out, "filtering not recognized") {
		t.Errorf("partial clone: %s", out)
	}
	git(t, filepath.Join(dir, "partial"), "fsck", "--strict", "--full")
}

// committed adds an empty commit to a clone and returns it.
func committed(t *testing.T, dir string, files ...string) string {
	t.Helper()
	for _, f := range files {
		git(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+git(t, dir, "hash-object", "-w", "--stdin")+","+f)
	}
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "more")
	return git(t, dir, "rev-parse", "HEAD")
}

func TestStockGitPushes(t *testing.T) {
	t.Parallel()
	r, dir, _ := cloned(t)
	head := committed(t, dir, "events/01/pushed")
	git(t, dir, "push", "-q", "-o", "topic=x", "origin", "main")
	if r.main().String() != head || strings.Join(r.lastOptions(), " ") != "topic=x" {
		t.Errorf("main is at %s with %v", r.main(), r.lastOptions())
	}
	if out := git(t, dir, "push", "origin", "main"); !strings.Contains(out, "up-to-date") {
		t.Errorf("pushed again: %s", out)
	}
}

func TestStockGitFollowsWhatLandedElsewhere(t *testing.T) {
	t.Parallel()
	r, dir, _ := cloned(t)
	head := committed(t, dir)
	git(t, dir, "push", "-q", "origin", "HEAD:refs/for/main")
	if got := git(t, dir, "rev-parse", "origin/main"); got != head || r.main().String() != head {
		t.Errorf("origin/main is at %s, main at %s", got, r.main())
	}
}

func TestStockGitShowsWhyItWasRefused(t *testing.T) {
	t.Parallel()
	r, dir, _ := cloned(t)
	before := r.main()
	committed(t, dir, "events/01/secret")
	out, err := stockGit(t, dir, "push", "origin", "HEAD:refs/for/main")
	for _, want := range []string{"remote: a secret is in", "remote: events/01/secret", "(see above)"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%q is missing: %v\n%s", want, err, out)
		}
	}
	if out, err := stockGit(t, dir, "push", "origin", "HEAD:refs/tags/v1"); err == nil || !strings.Contains(out, "(push to refs/for/main)") {
		t.Errorf("another ref: %v\n%s", err, out)
	}
	if out, err := stockGit(t, dir, "push", "origin", ":refs/heads/main"); err == nil || !strings.Contains(out, "does not support deleting refs") {
		t.Errorf("deletion: %v\n%s", err, out)
	}
	git(t, dir, "reset", "-q", "--soft", "HEAD~3")
	committed(t, dir)
	if out, err := stockGit(t, dir, "push", "-f", "origin", "HEAD:main"); err == nil || !strings.Contains(out, "(not a fast-forward)") {
		t.Errorf("forced push: %v\n%s", err, out)
	}
	if r.main() != before {
		t.Error("main has moved")
	}
}

func TestStockGitHearsWhyAPushCouldNotBeRead(t *testing.T) {
	t.Parallel()
	_, dir, _ := cloned(t)
	head := committed(t, dir)
	args := []string{"push", "origin"}
	for i := range gitwire.MaxCommands + 1 {
		args = append(args, fmt.Sprintf("%s:refs/heads/b%d", head, i))
	}
	if out, err := stockGit(t, dir, args...); err == nil || !strings.Contains(out, "more than 64 refs") {
		t.Errorf("%v\n%s", err, out)
	}
}

// cloned starts a daemon for a repo with a few commits and clones it with stock git.
func cloned(t *testing.T) (r *repo, dir string, asked func() []string) {
	t.Helper()
	r = newRepo()
	for i := range 5 {
		r.commit(t, fmt.Sprintf("events/0%d/first", i))
	}
	url, asked := daemon(t, r)
	dir = filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", url, dir)
	return r, dir, asked
}
