package secrets_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/policy/secrets"
)

// What stands in quotes beside a noun is often a piece of a program, and "pass" a
// verb.
func TestPiecesOfProgramsInProseAreNoSecrets(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		"We pass `prepareThreshold=0` in the URL.",
		"we pass \"maxPoolSize=20\" in the connection string",
		"Always pass `useUnicode=true&characterEncoding=UTF-8`.",
		"Tests pass `GOFLAGS=-count=1` to avoid the cache.",
		"Our signing key `kid=2024-05-prod-a` is in the JWKS.",
		"Pass `--timeout=10m0s` to `helm upgrade`.",
		"We pass `--set image.tag=v1.42.3` to helm.",
		"We pass `-p 5432:5432` to docker.",
		"then pass `Array<Uint8>(32)` to the hasher",
		"The SSH key `~/.ssh/id_ed25519_work` is used for the hub.",
		"delete the secret `sh.helm.release.v1.checkout.vN` of status pending",
		"ExternalSecret refreshes the secret `stripe-webhook-2` every `1h0m0s`.",
		"Der Schlüssel `kunden_nr#2024` ist der Partitionsschlüssel.",
	} {
		if f := s.Scan([]byte(text)); len(f) > 0 {
			t.Errorf("%s finds a secret in %q", f[0].Rule, text)
		}
	}
}

func TestSettingsAreNoSecretsWhateverTheyAreCalled(t *testing.T) {
	s := secrets.New()
	names := rapid.SampledFrom(strings.Fields("maxPoolSize lock_timeout reuse-interval server.port retries burst keepAlive GOMAXPROCS"))
	values := rapid.OneOf(rapid.StringMatching(`[1-9][0-9]{0,4}(ms|s|m|h)?`), rapid.SampledFrom([]string{"true", "false", "off", "require", "UTF-8", "v1.2.3", "1h0m0s"}))
	rapid.Check(t, func(t *rapid.T) {
		var settings []string
		for range rapid.IntRange(1, 4).Draw(t, "settings") {
			settings = append(settings, names.Draw(t, "name")+"="+values.Draw(t, "value"))
		}
		before := rapid.SampledFrom([]string{"We pass ", "Pass ", "the secret ", "the signing key ", "the password ", "Schlüssel ", "пароль "}).Draw(t, "before")
		quote := rapid.SampledFrom([]string{"`", `"`, "'"}).Draw(t, "quote")
		clean(t, s, before+quote+strings.Join(settings, rapid.SampledFrom([]string{"&", ",", ";"}).Draw(t, "between"))+quote+" everywhere.")
	})
}

// What somebody made up stays a secret in the same places, also as the value of a
// setting or of an option.
func TestMadeUpValuesInProseStaySecrets(t *testing.T) {
	s := secrets.New()
	rapid.Check(t, func(t *rapid.T) {
		made := rapid.StringMatching(`[a-z]{2}[A-Z]{2}[0-9]{2}[!$%&]?[a-zA-Z0-9]{8,14}[0-9]`).Draw(t, "value")
		before := rapid.SampledFrom([]string{"We pass ", "the client secret ", "the password ", "Passwort ", "пароль "}).Draw(t, "before")
		value := rapid.SampledFrom([]string{"", "", "db=", "admin_user="}).Draw(t, "setting") + made
		quote := rapid.SampledFrom([]string{"`", `"`, "'"}).Draw(t, "quote")
		if text := before + quote + value + quote + " everywhere."; len(s.Scan([]byte(text))) == 0 {
			t.Fatalf("no secret in %q", text)
		}
	})
}
