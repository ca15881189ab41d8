package gitwire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitwire"
)

// pkt makes pkt-lines; an empty string makes a flush-pkt.
func pkt(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		if l == "" {
			b.WriteString("0000")
			continue
		}
		fmt.Fprintf(&b, "%04x%s", len(l)+4, l)
	}
	return b.String()
}

// unpkt is the reverse of pkt.
func unpkt(t *testing.T, s string) []string {
	t.Helper()
	var lines []string
	for s != "" {
		var n int
		if _, err := fmt.Sscanf(s, "%04x", &n); err != nil || n > len(s) || n > 0 && n < 4 {
			t.Fatalf("no pkt-line at %q", s)
		}
		if n == 0 {
			lines, s = append(lines, ""), s[4:]
			continue
		}
		lines, s = append(lines, s[4:n]), s[n:]
	}
	return lines
}

// script is a peer whose words are known beforehand and whose listening is recorded.
type script struct {
	says   io.Reader
	heard  bytes.Buffer
	closed bool
}

func says(s string) *script { return &script{says: strings.NewReader(s)} }

func (s *script) Read(p []byte) (int, error)  { return s.says.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.heard.Write(p) }
func (s *script) Close() error                { s.closed = true; return nil }

// oid is an id made of one digit.
func oid(digit string) plumbing.Hash { return plumbing.NewHash(strings.Repeat(digit, 40)) }

func isProtocol(err error) bool {
	_, ok := errors.AsType[*gitwire.ProtocolError](err)
	return ok
}

func isUnsupported(err error) bool {
	_, ok := errors.AsType[*gitwire.UnsupportedError](err)
	return ok
}

// stockGit runs the installed git in a folder, without the settings of the machine, and returns all it prints.
func stockGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	return stockGitReading(t, dir, "", args...)
}

func stockGitReading(t *testing.T, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing is tried against it")
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = stockEnv()
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func stockEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LC_ALL=C", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.invalid",
	}
}

// git is stockGit for what must work.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := stockGit(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}
