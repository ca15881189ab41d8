package hook_test

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"cairn/hub/hook"
	"cairn/internal/event/eventtest"
)

func line(t testing.TB, name string) string {
	t.Helper()
	key, err := ssh.NewPublicKey(eventtest.Key(name).Public())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func TestAListOfKeysIsUnderstoodWhole(t *testing.T) {
	t.Parallel()
	good := "# the team\n\n" + line(t, "laptop") + " ana's laptop\r\n  " + line(t, "desktop") + "\n"
	keys, err := hook.ParseKeys([]byte(good))
	if err != nil || len(keys) != 2 || !keys[eventtest.Device("laptop")] || !keys[eventtest.Device("desktop")] || keys[eventtest.Device("stranger")] {
		t.Errorf("%v, %v", keys, err)
	}
	if keys, err := hook.ParseKeys(nil); err != nil || keys == nil || len(keys) != 0 {
		t.Errorf("an empty list must take nobody's events: %v, %v", keys, err)
	}
	for name, bad := range map[string]string{
		"a word":           "laptop",
		"options":          `command="x" ` + line(t, "laptop"),
		"a private key":    "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
		"another kind":     "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAQA=",
		"half a key":       line(t, "laptop")[:50],
		"a device's id":    string(eventtest.Device("laptop")),
		"a certificate":    strings.Replace(line(t, "laptop"), "ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com", 1),
		"after good lines": good + "x",
	} {
		if keys, err := hook.ParseKeys([]byte(bad)); err == nil {
			t.Errorf("%s is understood as %v", name, keys)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte(line(f, "laptop")))
	f.Add([]byte("# x\n\nssh-ed25519 AAAA\n"))
	f.Fuzz(func(t *testing.T, list []byte) {
		keys, err := hook.ParseKeys(list)
		if err != nil && keys != nil {
			t.Error("a list that is not understood lets somebody in")
		}
	})
}
