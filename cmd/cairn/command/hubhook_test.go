package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/cmd/cairn/command"
	"cairn/policy/rules"
)

// A policy file is read at each push, and no more of it than it may have and a
// byte, whatever somebody has put there.
func TestNoCommandReadsMoreThanAPolicyFileMayHave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("#"), 2*rules.MaxFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"hub hook install --repo " + dir + " --policy", "hub hook pre-receive --policy",
		"policy check", "policy test --against docs",
	} {
		var said strings.Builder
		env := command.System()
		env.Stdout, env.Stderr, env.Stdin = &said, &said, strings.NewReader("")
		code := command.Main(append(append([]string{"--home", dir}, strings.Fields(line)...), path), env)
		if code == 0 || !strings.Contains(said.String(), "larger than 256 KiB (262144 bytes)") {
			t.Errorf("%s: exit code %d: %s", line, code, said.String())
		}
	}
}
