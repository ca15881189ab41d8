package secrets_test

import (
	"html"
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// phrase is a seed phrase of words that a test may print.
const phrase = "story load move weather craft hurt nothing scorpion front industry wheel empower"

func TestAnyQuotesMayStandAroundAValue(t *testing.T) {
	s := secrets.New()
	for _, quotes := range []string{`""`, "''", "“”", "„“", "‟”", "‘’", "‚‘", "«»", "»«", "‹›", "「」", "『』", "＂＂", "＇＇", "``"} {
		marks := []rune(quotes)
		for _, blank := range []string{"", " ", "\u00a0", "\u202f"} {
			around := func(value string) string { return string(marks[0]) + blank + value + blank + string(marks[1]) }
			for name, value := range map[string]string{
				"The client secret is ": bare(1), "API key: ": bare(2), "I set the password to ": password(), "密码是": password(),
				"seed phrase: ": phrase, "wallet mnemonic = ": phrase,
			} {
				if len(s.Scan([]byte(name+around(value)))) == 0 {
					t.Errorf("%s%s passes", name, around("…"))
				}
			}
		}
	}
}

func TestASeedPhraseIsFoundBehindItsNameInAnyBrackets(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		"rotate the wallet seed phrase [%] today", "the mnemonic (%) is old", "recovery phrase {%}", `setx MNEMONIC "%"`, `set -gx WALLET_MNEMONIC '%'`,
		"variable \"mnemonic\" {\n  default = \"%\"\n}", "variable \"wallet_mnemonic\" {\n  type = string\n  default     = \"%\"\n}",
		"variable \"seed_phrase\" {\n  description = \"of the wallet\"\n  sensitive = true\n  default = \"%\"\n}",
	} {
		if !finds(s.Scan([]byte(strings.ReplaceAll(text, "%", phrase))), "seed-phrase") {
			t.Errorf("%s: passes", text)
		}
	}
	clean := "variable \"mnemonic\" {\n  type = string\n}\nvariable \"motto\" {\n  default = \"" + phrase + "\"\n}"
	if found := s.Scan([]byte(clean)); len(found) > 0 {
		t.Errorf("%s finds the default of another variable", found[0].Rule)
	}
}

// The keys that Azure signs stand in paths, between marks and behind any
// letters of their own alphabet that a text puts before them.
func TestAzureKeysAreFoundInPathsAndBetweenMarks(t *testing.T) {
	s := secrets.New()
	for _, rule := range []string{"azure-key", "azure-storage"} {
		for _, key := range secretstest.Forms(rule, seeded(3)) {
			for _, place := range []string{"use **%** until then", "/home/ci/backup/%/data.json", "https://acme.example/%?x=1", "# %", "key=%", "_%_", "code: `%`", "~~%~~"} {
				if !finds(s.Scan([]byte(strings.Replace(place, "%", key, 1))), rule) {
					t.Errorf("%s passes a key of %d bytes", place, len(key))
				}
			}
		}
	}
}

func TestTheNameOfASecretInAResourceIsNoSecret(t *testing.T) {
	s := secrets.New()
	for _, partition := range []string{"aws", "aws-cn", "aws-us-gov"} {
		name := "arn:" + partition + ":secretsmanager:eu-central-1:123456789012:secret:app/db-a1B2c3"
		for _, place := range []string{"password: %", "密码：%", "<password>%</password>", `{"db_password": "%"}`, "DB_PASSWORD=%", "| password | %|", "(password:%)", "«%»"} {
			if found := s.Scan([]byte(strings.Replace(place, "%", name, 1))); len(found) > 0 {
				t.Errorf("%s: %s", place, found[0].Rule)
			}
		}
	}
}

func TestAPlaceholderInEscapedBracketsIsNoSecret(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		"https://<user>:<password>@cache.acme.example/simple", "postgres://app:<db-password>@db.acme.example/app", "password: <password>",
		"otpauth://totp/<issuer>:<account>?secret=<base32>&issuer=<issuer>",
	} {
		for range 3 {
			text = html.EscapeString(text)
			if found := s.Scan([]byte(text)); len(found) > 0 {
				t.Errorf("%s: %s", text, found[0].Rule)
			}
		}
	}
	for _, text := range []string{"https://app:%@db.acme.example/app", "password: %", "password=<%>"} {
		text = strings.Replace(text, "%", password(), 1)
		for range 2 {
			text = html.EscapeString(text)
			if len(s.Scan([]byte(text))) == 0 {
				t.Errorf("%s: passes", strings.Replace(text, password(), "…", 1))
			}
		}
	}
}
