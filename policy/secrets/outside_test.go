package secrets_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// A comment cuts a token wherever it stands and however long it is, up to what
// is read of one.
func TestACommentOfAnyLengthCutsNoToken(t *testing.T) {
	s := secrets.New()
	token := secretstest.Generate("npm-token", seeded(1))
	for _, marks := range [][2]string{{"<!--", "-->"}, {"/*", "*/"}} {
		for n := 0; n <= 100; n++ {
			text := token[:9] + marks[0] + strings.Repeat("x", n) + marks[1] + token[9:]
			if !finds(s.Scan([]byte(text)), "npm-token") {
				t.Errorf("%s of %d bytes: passes", marks[0], n)
			}
		}
	}
}

// password is strong enough to be one beside any name.
func password() string { return strings.Join([]string{"kV7", "qzR2", "xTm9", "wLp4"}, "") }

func TestOnlyAnImageIsExcusedForItsDigest(t *testing.T) {
	s := secrets.New()
	digest := "@sha256:" + fmt.Sprintf("%x", sha256.Sum256([]byte("an image")))
	for text, found := range map[string]bool{
		"token: " + "ghcr.io/acme/app" + digest:         false,
		"token: " + "app:1.2" + digest:                  false,
		"password: " + password() + "@sha256:x":         true,
		"password: " + password() + digest:              true,
		"password: app@sha256:" + password():            true,
		"password: " + password() + "@sha256:" + "abcd": true,
	} {
		if got := len(s.Scan([]byte(text))) > 0; got != found {
			t.Errorf("%s: found %v", strings.ReplaceAll(text, password(), "<password>"), got)
		}
	}
}

func TestNumbersInTheNameOfAVariableHideNothing(t *testing.T) {
	s := secrets.New()
	for _, name := range []string{"SRV001_PASSWORD", "PGX1024_DB_PASSWORD", "K8S2024_API_TOKEN", "DB01X9_SECRET_KEY", "X1Y2Z3_PASSWORD"} {
		if len(s.Scan([]byte(name+"="+password()))) == 0 {
			t.Errorf("%s: passes", name)
		}
	}
}

// A default login is excused for its own server, and nothing before its
// connection string says which that is.
func TestALocalHostExcusesItsOwnLoginOnly(t *testing.T) {
	s := secrets.New()
	login := ";User Id=sa;" + "Password=" + "postgres;"
	for text, found := range map[string]bool{
		"Server=localhost" + login:                                     false,
		"on db.acme.example, Server=127.0.0.1" + login:                 false,
		"jdbc:postgresql://localhost/a?" + "password=" + "postgres":    false,
		"jdbc:oracle:thin:@localhost:1521?" + "password=" + "postgres": false,
		"Server=db.acme.example" + login:                               true,
		"we run it on localhost\nServer=db.acme.example" + login:       true,
		"from localhost use Server=db.acme.example" + login:            true,
		"Server=localhost;Server=db.acme.example" + login:              true,
	} {
		if got := len(s.Scan([]byte(text))) > 0; got != found {
			t.Errorf("%q: found %v", text, got)
		}
	}
}

// A short comment parts nothing, whatever marks stand beside it.
func TestAShortCommentBetweenMarksCutsNoToken(t *testing.T) {
	token := secretstest.Generate("npm-token", seeded(2))
	if !finds(secrets.New().Scan([]byte("**"+token[:9]+"**<!-- x -->**"+token[9:]+"**")), "npm-token") {
		t.Error("passes")
	}
}
