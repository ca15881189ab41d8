package invite_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/invite"
)

var hostKey = "SHA256:" + strings.Repeat("x", 43)

func made(t *testing.T) invite.Invite {
	t.Helper()
	i, err := invite.New("hub.example.com:7022", hostKey, "ana")
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAnInviteReadsBackAndMakesTheSameKey(t *testing.T) {
	i := made(t)
	got, err := invite.Parse("  " + i.Text() + "\r\n")
	if err != nil || got != i {
		t.Fatalf("read back %v, %v", got, err)
	}
	ours, err := i.Key()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := got.Key()
	if err != nil || !ours.Equal(theirs) {
		t.Fatalf("another key, %v", err)
	}
	other, err := made(t).Key()
	if err != nil || other.Equal(ours) {
		t.Fatalf("two invites share a key, %v", err)
	}
}

// The format is a promise: an invite made by one version is read by another.
func TestTheTextHasAFixedForm(t *testing.T) {
	var i invite.Invite
	i.Addr, i.HostKey, i.Person = "127.0.0.1:22", hostKey, "bo"
	for n := range i.Seed {
		i.Seed[n] = byte(n)
	}
	coded, ok := strings.CutPrefix(i.Text(), "cairn1.")
	if !ok {
		t.Fatalf("starts with %.10q", i.Text())
	}
	raw, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]string
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	if members["addr"] != i.Addr || members["host"] != hostKey || members["person"] != "bo" || members["seed"] == "" || len(members) != 4 {
		t.Fatalf("members %q", members)
	}
	key, err := i.Key()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", key.Public()); !strings.HasPrefix(got, "0e92ea6f") {
		t.Fatalf("public key %s", got)
	}
}

func TestWhatIsNotAnInviteIsRefusedWithoutQuotingIt(t *testing.T) {
	text := made(t).Text()
	body := func(members string) string {
		return invite.Prefix + base64.RawURLEncoding.EncodeToString([]byte(members))
	}
	seed := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, bad := range map[string]string{
		"empty":       "",
		"no prefix":   strings.TrimPrefix(text, invite.Prefix),
		"newer":       strings.Replace(text, "cairn1.", "cairn2.", 1),
		"cut short":   text[:len(text)-9],
		"not base64":  invite.Prefix + "!!!!",
		"not JSON":    body("hello"),
		"short seed":  body(`{"addr":"h:1","host":"` + hostKey + `","seed":"AAAA","person":"ana"}`),
		"no port":     body(`{"addr":"h","host":"` + hostKey + `","seed":"` + seed + `","person":"ana"}`),
		"no host":     body(`{"addr":":22","host":"` + hostKey + `","seed":"` + seed + `","person":"ana"}`),
		"no host key": body(`{"addr":"h:22","host":"SHA256:x","seed":"` + seed + `","person":"ana"}`),
		"odd person":  body(`{"addr":"h:22","host":"` + hostKey + `","seed":"` + seed + `","person":"../ana"}`),
		"huge":        invite.Prefix + strings.Repeat("A", 1<<20),
	} {
		_, err := invite.Parse(bad)
		if !errors.Is(err, invite.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && len(bad) > 8 && strings.Contains(err.Error(), bad[7:]) {
			t.Errorf("%s: the error quotes the text", name)
		}
	}
}

func TestASeedNeverPrintsItself(t *testing.T) {
	i := made(t)
	hexSeed, coded := fmt.Sprintf("%x", i.Seed[:]), base64.StdEncoding.EncodeToString(i.Seed[:])
	list := strings.Trim(fmt.Sprint(i.Seed[:]), "[]")
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		got := fmt.Sprintf(format, i)
		for _, secret := range []string{hexSeed, coded, list, string(i.Seed[:])} {
			if strings.Contains(got, secret) {
				t.Errorf("%s prints the seed", format)
			}
		}
	}
	if b, err := json.Marshal(i); err == nil || bytes.Contains(b, i.Seed[:]) {
		t.Errorf("an invite encodes by itself to %d bytes", len(b))
	}
}

func TestOnlyPlainNamesArePersons(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,38}`).Draw(t, "name")
		if !invite.ValidPerson(name) {
			t.Fatalf("%q is refused", name)
		}
	})
	for _, bad := range []string{"", "-a", "Ana", "a_b", "a/b", "..", "ana\n", strings.Repeat("a", 40), "ä"} {
		if invite.ValidPerson(bad) {
			t.Errorf("%q is taken for a person", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	i, err := invite.New("h:1", hostKey, "ana")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(i.Text())
	f.Add(invite.Prefix + "e30")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := invite.Parse(text)
		if err != nil {
			return
		}
		again, err := invite.Parse(got.Text())
		if err != nil || again != got {
			t.Fatalf("read back %v, %v", again, err)
		}
	})
}
