package sshdoor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
)

func TestOnlyAKnownKeyOpensTheDoor(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	if out, _, _ := h.as(t, "laptop").run(t, "whoami"); out != "laptop" {
		t.Errorf("the hub says %q", out)
	}
	password := gossh.Password("open")
	questions := gossh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return []string{"open"}, nil })
	for name, auth := range map[string][]gossh.AuthMethod{
		"no key":          nil,
		"an unknown key":  {gossh.PublicKeys(signer(t, "stranger"))},
		"a password":      {password},
		"an answer":       {questions},
		"all but the key": {gossh.PublicKeys(signer(t, "stranger")), password, questions},
	} {
		if c, err := h.dial(auth...); err == nil {
			c.Close()
			t.Errorf("%s opens the door", name)
		}
	}
}

// The attack of GHSA-pchf-49fh-w34r: offer A's public key, for which the
// attacker has no private half, then log in with the attacker's own key B.
func TestAnOfferedKeyIsNotAnIdentity(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "victim", "attacker")
	liar := &liar{offered: signer(t, "victim").PublicKey(), Signer: signer(t, "attacker")}
	c, err := h.dial(gossh.PublicKeys(liar))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if liar.asked < 3 {
		t.Fatalf("the victim's key was never offered (%d)", liar.asked)
	}
	if out, _, _ := c.run(t, "whoami"); out != "attacker" {
		t.Fatalf("the hub says %q", out)
	}
}

// A liar shows the offered key while it is asked whether the key would do, and
// its own as soon as it has to sign.
type liar struct {
	gossh.Signer
	offered gossh.PublicKey
	asked   int
}

func (l *liar) PublicKey() gossh.PublicKey { return l }
func (l *liar) Type() string               { return l.offered.Type() }
func (l *liar) Verify(data []byte, sig *gossh.Signature) error {
	return l.Signer.PublicKey().Verify(data, sig)
}

func (l *liar) Marshal() []byte {
	l.asked++
	if l.asked <= 2 { // the question, and the comparison with its answer
		return l.offered.Marshal()
	}
	return l.Signer.PublicKey().Marshal()
}

func TestAClientWithSeveralKeysGetsInWithTheRightOne(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	var keys []gossh.Signer
	for _, name := range []string{"work", "home", "old", "older", "oldest", "laptop"} {
		keys = append(keys, signer(t, name))
	}
	c, err := h.dial(gossh.PublicKeys(keys...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if out, _, _ := c.run(t, "whoami"); out != "laptop" {
		t.Fatalf("the hub says %q", out)
	}
}

func TestARefusedKeyIsNamed(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "lost")
	h.revoke(t, "lost")
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecdsaKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key  any
		word string
	}{
		"unknown": {eventtest.Key("stranger"), "does not know the key"},
		"revoked": {eventtest.Key("lost"), "was revoked at this hub"},
		"rsa":     {rsaKey, "takes ed25519 keys only"},
		"ecdsa":   {ecdsaKey, "takes ed25519 keys only"},
	} {
		key, err := gossh.NewSignerFromKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.dial(gossh.PublicKeys(key))
		if err == nil {
			got.Close()
			t.Errorf("%s: let in", name)
		}
		wants(t, name+" key: the banner", got.banners, c.word, gossh.FingerprintSHA256(key.PublicKey()))
	}
}

func TestAnInviteMayOnlyEnrol(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	h.mu.Lock()
	err := h.members.Invite(public("an invite"), "bo", nil, devices.Read, time.Now(), devices.DefaultTTL)
	h.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	guest := h.as(t, "an invite")
	for _, line := range []string{"whoami", "spaces", "watch team", "git-upload-pack 'team'", "git-receive-pack 'team'", "hub devices"} {
		_, stderr, status := guest.run(t, line)
		if status != 7 {
			t.Errorf("%s: exit status %d", line, status)
		}
		wants(t, line, stderr, "may only enrol")
	}
	if _, _, status := h.as(t, "laptop").run(t, hubwire.CmdEnrol); status != 7 {
		t.Errorf("a device enrols: exit status %d", status)
	}
}

func TestASilentVisitorIsSentAway(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{Handshake: 50 * time.Millisecond}, sayWho)
	silent, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ends(t, silent)
	halfway, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer halfway.Close()
	if _, err := io.WriteString(halfway, "SSH-2.0-slow\r\n"); err != nil {
		t.Fatal(err)
	}
	ends(t, halfway)
}

func TestVisitorsWithoutALoginAreCapped(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]sshdoor.Limits{
		"in all":          {Waiting: 3},
		"by address":      {WaitingAddress: 3},
		"by token bucket": {Burst: 3, Refill: 0.0001},
	} {
		h := opened(t, limits, sayWho, "laptop")
		for range 3 {
			c, err := net.Dial("tcp", h.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			// The version line says that the door has taken the connection.
			if _, err := io.ReadFull(c, make([]byte, 8)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		c, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n, err := c.Read(make([]byte, 8)); err == nil {
			t.Errorf("%s: the fourth visitor was sent %d bytes", name, n)
		}
	}
}

func TestLoginsDoNotUseUpTheTokens(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{Burst: 2, Refill: 0.0001}, sayWho, "laptop")
	for range 8 {
		c := h.as(t, "laptop")
		c.run(t, "whoami")
		c.Close()
	}
}

func TestOneKeyDoesNotTakeAllConnections(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{PerKey: 2}, sayWho, "laptop", "desktop")
	for range 2 {
		h.as(t, "laptop").run(t, "whoami")
	}
	c, err := h.dial(gossh.PublicKeys(signer(t, "laptop")))
	if err == nil {
		c.Close()
		t.Error("a third connection is let in")
	}
	wants(t, "the banner", c.banners, "too many connections")
	h.as(t, "desktop").run(t, "whoami")
}

func TestStockSSHShowsWhichKeyWasRefused(t *testing.T) {
	t.Parallel()
	bin, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("SKIPPED: no ssh on this machine, so what it prints was not checked")
	}
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	ask := func(name string) string {
		path := filepath.Join(t.TempDir(), "key")
		block, err := gossh.MarshalPrivateKey(eventtest.Key(name), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		host, port, err := net.SplitHostPort(h.addr)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "-F", "none", "-p", port, "-i", path, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
			"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+os.DevNull, "git@"+host, "whoami")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		// The exit status is not the point; what a person reads is.
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	wants(t, "ssh with an enrolled key", ask("laptop"), "laptop")
	wants(t, "ssh with an unknown key", ask("stranger"), "does not know the key "+hubwire.Fingerprint(public("stranger")))
}
