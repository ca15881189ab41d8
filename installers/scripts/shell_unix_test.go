//go:build unix

package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A user has a home and a checkout of their own, and programs that only pretend.
type user struct {
	t    *testing.T
	dir  string
	path string
}

func newUser(t *testing.T) user {
	u := user{t: t, dir: filepath.Join(t.TempDir(), "a user's dir"), path: os.Getenv("PATH")}
	for name, text := range map[string]string{"install.sh": installSh, "uninstall.sh": uninstallSh} {
		u.write("src/installers/scripts/"+name, text)
	}
	u.write("home/.keep", "")
	return u
}

func (u user) file(name string) string { return filepath.Join(u.dir, name) }

func (u user) write(name, text string) {
	u.t.Helper()
	if err := os.MkdirAll(filepath.Dir(u.file(name)), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(u.file(name), []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
}

// program writes a cairn that says its version and notes what it is asked for.
func (u user) program(name, version string) {
	u.write(name, `#!/bin/sh
echo "$*" >>"$HOME/calls"
case "$*" in
version) echo "cairn `+version+`" ;;
"disconnect all") [ ! -e "$HOME/stubborn" ] ;;
esac
`)
}

// run runs a script with nothing of the tester's environment but the path.
func (u user) run(script string, args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{u.file("src/installers/scripts/" + script)}, args...)...)
	cmd.Dir = u.dir
	cmd.Env = []string{"HOME=" + u.file("home"), "PATH=" + u.path}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (u user) must(script string, args ...string) string {
	u.t.Helper()
	out, err := u.run(script, args...)
	if err != nil {
		u.t.Fatalf("%s %v: %v\n%s", script, args, err, out)
	}
	return out
}

func (u user) refused(want, script string, args ...string) {
	u.t.Helper()
	if out, err := u.run(script, args...); err == nil || !strings.Contains(out, want) {
		u.t.Errorf("%s %v: %v\n%s", script, args, err, out)
	}
}

func (u user) names(dir string) string {
	entries, err := os.ReadDir(u.file(dir))
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestInstallUpgradeUninstall(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.program("cairn-1", "1.0")
	contains(t, u.must("install.sh", "--from", "cairn-1"), "Installed: "+u.file("home/.local/bin/cairn")+" (cairn 1.0)", "not in your PATH", "cairn connect all")
	contains(t, u.must("install.sh", "--from", "cairn-1"), "already there")
	info, err := os.Stat(u.file("home/.local/bin/cairn"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program is %v, %v", info, err)
	}

	u.program("cairn-2", "2.0")
	u.path += ":" + u.file("home/.local/bin")
	out := u.must("install.sh", "--from", "cairn-2")
	contains(t, out, "(cairn 2.0)", "cairn agent stop")
	if strings.Contains(out, "not in your PATH") {
		t.Error(out)
	}
	if got := u.names("home/.local/bin"); got != "cairn" {
		t.Errorf("there is %s", got)
	}

	u.write("home/.cairn/note", "mine")
	u.write("home/calls", "")
	contains(t, u.must("uninstall.sh"), "Removed: ", "Your memory is still in "+u.file("home/.cairn"))
	calls, err := os.ReadFile(u.file("home/calls"))
	if err != nil || string(calls) != "disconnect all\nagent uninstall\nagent stop\n" {
		t.Errorf("asked for %q, %v", calls, err)
	}
	if got := u.names("home/.local/bin") + u.names("home/.cairn"); got != "note" {
		t.Errorf("left %q", got)
	}
	contains(t, u.must("uninstall.sh"), "nothing to do")
}

func TestTheProgramBesideTheScriptIsTaken(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.program("src/installers/scripts/cairn", "3.0")
	contains(t, u.must("install.sh", "--to", "my bin"), "Installed: "+u.file("my bin/cairn"))
}

func TestACheckoutIsBuilt(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("src/go.mod", "module cairn\n\ngo 1.26\n")
	u.write("tools/go", "#!/bin/sh\n[ \"$CGO_ENABLED $1 $2 $3 $5\" = '0 build -trimpath -o ./cmd/cairn' ] && [ -f go.mod ] || exit 9\nprintf '#!/bin/sh\\necho built\\n' >\"$4\"\n")
	if err := os.Chmod(u.file("tools/go"), 0o755); err != nil {
		t.Fatal(err)
	}
	u.path = u.file("tools") + ":" + u.path
	contains(t, u.must("install.sh"), "Building", "(built)")
}

func TestInstallRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.refused("say where it is with --from", "install.sh")
	u.refused("there is no file", "install.sh", "--from", "missing")
	u.refused("unknown argument: --form", "install.sh", "--form", "x")
	u.refused("--to needs a value", "install.sh", "--to")
	u.write("broken", "#!/bin/sh\nexit 1\n")
	u.refused("does not run on this machine", "install.sh", "--from", "broken")
	if got := u.names("home/.local/bin"); got != "" {
		t.Errorf("left %q", got)
	}
	u.program("cairn-1", "1.0")
	if err := os.Symlink(u.file("cairn-1"), u.file("home/.local/bin/cairn")); err != nil {
		t.Fatal(err)
	}
	u.refused("is a link", "install.sh", "--from", "cairn-1")
	contains(t, u.must("install.sh", "--help"), "usage:")
}

func TestUninstallStopsBeforeAToolIsLeftWithoutItsProgram(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.program("cairn-1", "1.0")
	u.must("install.sh", "--from", "cairn-1")
	u.write("home/stubborn", "")
	u.refused("nothing was removed", "uninstall.sh")
	if got := u.names("home/.local/bin"); got != "cairn" {
		t.Errorf("there is %q", got)
	}
	contains(t, u.must("uninstall.sh", "--force"), "Removed: ")
}

func TestTheShellScriptsAreClean(t *testing.T) {
	t.Parallel()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Log("shellcheck is not here; the scripts are run only")
		return
	}
	check := func(text string) (string, error) {
		cmd := exec.Command(shellcheck, "--shell=sh", "-")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, text := range map[string]string{"install.sh": installSh, "uninstall.sh": uninstallSh} {
		if out, err := check(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if _, err := check("#!/bin/sh\nrm $1\n"); err == nil {
		t.Error("the check finds nothing wrong with a script that is wrong")
	}
}
