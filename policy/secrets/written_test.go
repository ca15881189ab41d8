package secrets_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
		"ENV MNEMONIC %", "SEED_PHRASE\t%", "here is the wallet seed phrase, %\n, please store it", "mnemonic → %", "ENV MNEMONIC %\nRUN make",
		"variable \"mnemonic\" {\n  default = \"%\"\n}", "variable \"wallet_mnemonic\" {\n  type = string\n  default     = \"%\"\n}",
		"variable \"seed_phrase\" {\n  description = \"of the wallet\"\n  sensitive = true\n  default = \"%\"\n}",
	} {
		if !finds(s.Scan([]byte(strings.ReplaceAll(text, "%", phrase))), "seed-phrase") {
			t.Errorf("%s: passes", text)
		}
	}
	for _, text := range []string{
		"a mnemonic helps people remember which words belong together when they write them down", "seed phrase words come from lists that every wallet knows about and reads quite often",
	} {
		if found := s.Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %s", text, found[0].Rule)
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

func TestAValueBelongsToTheNameAtItsPlace(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		`password, ok := "%", true`, `db_password, err := "%", error(nil)`, `var user, password = "admin", "%"`, `const user, apiKey string = "admin", "x"; _ = 1; clientSecret, n := "%", 2`,
		`user, password = "admin", "%"`, `host, user, password, port = 'db', 'admin', '%', 5432`, `(user, password) = ("admin", "%")`, `password, user = "%", "admin"`,
		`user, password = ["admin", "%"]`, `const [user, password] = ["admin", "%"];`, `let { user, password } = { "admin", "%" }`, `local user, password = "admin", "%"`,
		`user , password  =  'admin' , '%'`, `self.user, self.password = "admin", '%'`, `port, password = 5432, "%"`, "user, password = \"a, b\", \"%\"", "user, password = (\"admin\",\n    \"%\")",
	} {
		for _, value := range []string{password(), "6_x" + "T2*+0^-G4i"} {
			if len(s.Scan([]byte(strings.ReplaceAll(text, "%", value)))) == 0 {
				t.Errorf("%s passes", text)
			}
		}
	}
	for _, text := range []string{
		`password, commit = "none", "%"`, `password, user == "a", "%"`, `password, user = f("%"), "%"`,
	} {
		if found := s.Scan([]byte(strings.ReplaceAll(text, "%", password()))); len(found) > 0 {
			t.Errorf("%s: %s", text, found[0].Rule)
		}
	}
}

func TestADefinitionOnACommandLineIsANameAndItsValue(t *testing.T) {
	for _, name := range []string{"-DENCRYPTION_KEY", "-DAPI_KEY", "-Ddb.password", "-DPASSWORD", "cmake -DSIGNING_KEY", "java -Djwt.secret", "-Dencryption.key"} {
		if len(secrets.New().Scan([]byte(name+"="+bare(1)))) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	for _, rule := range []string{"consul", "codecov", "snyk", "heroku-legacy"} {
		_, value, _ := strings.Cut(secretstest.Generate(rule, seeded(1)), "=")
		name := "-D" + strings.ToUpper(strings.TrimSuffix(rule, "-legacy")) + "_TOKEN="
		if len(value) != 36 || !finds(secrets.New().Scan([]byte("mvn "+name+value)), rule) {
			t.Errorf("%s passes %d bytes", name, len(value))
		}
	}
}

func TestAnArrowTiesAPassword(t *testing.T) {
	for _, arrow := range []string{"->", "=>", "→", "⇒", "➜", "⟶"} {
		for _, value := range []string{"%", "**%**", "[%]", "`%`", "«%»"} {
			text := "password " + arrow + " " + value
			if len(secrets.New().Scan([]byte(strings.Replace(text, "%", password(), 1)))) == 0 {
				t.Errorf("%s passes", text)
			}
		}
	}
}

// The prefix of a token at the end of a line does not make one of the next
// line, as long as that is a sentence.
func TestAPrefixAtTheEndOfALineIsNoToken(t *testing.T) {
	s := secrets.New()
	for _, prefix := range []string{"xoxb-", "ghp_", "glpat-", "npm_", "sk_live_", "hf_", "dop_v1_", "sk-ant-", "shpat_", "lin_api_", "key-", "sbp_"} {
		for _, next := range []string{
			"- ULID 01F8J126B8E0WMA0W3CG39QZ39 is the key of the event", "md5sum e98da04152a2df1e858fb279729bcbc4  review-6.21.13.tar.gz",
			"commit 4f3a9c0d1e5b6a7f8091a2b3c4d5e6f708192a3b", "- UUID 5ae25361-021e-4aa5-a060-86826837f777 of the request", "* SHA256 " + strings.Repeat("b27d90e4", 8),
			"1. PR 1849 of 2026-10-12 in 4f3a9c0d1e5b6a7f8091a2b3c4d5e6f708192a3b",
		} {
			for _, mark := range []string{"", "- "} {
				text := mark + "tokens begin with " + prefix + "\n" + next
				if found := s.Scan([]byte(text)); len(found) > 0 {
					t.Errorf("%s finds a secret in %q", found[0].Rule, text)
				}
			}
		}
	}
	for _, rule := range []string{"github-pat", "npm-token", "stripe-live", "gitlab-pat"} {
		token := secretstest.Generate(rule, seeded(4))
		for cut := 4; cut < 12; cut++ {
			text := "- first: " + token[:cut] + "\n- " + token[cut:20] + "\n- " + token[20:] + "\n\nno more"
			if !finds(s.Scan([]byte(text)), rule) {
				t.Errorf("%s cut after %d bytes passes", rule, cut)
			}
		}
	}
}

func TestIDsBesideTheNameOfASecretKeyAreNoSecrets(t *testing.T) {
	s := secrets.New()
	for _, name := range []string{"STRIPE_SECRET_KEY: ${{ secrets.STRIPE_KEY }}", "SECRET_KEY: ${SECRET_KEY}", "DJANGO_SECRET_KEY from the vault"} {
		for _, id := range []string{
			"traceparent: 00-5ae25361021e0aa5a06086826837f777-cf0eafc8129c63b8-01", "tracestate: 5ae25361-021e-4aa5-a060-86826837f777_cf0eafc8129c63b8",
			"span: 5ae25361021e0aa5a06086826837f777-cf0eafc8129c63b8_01-00-1a2b",
		} {
			for _, mark := range []string{"", "- ", "  "} {
				if found := s.Scan([]byte(mark + name + "\n" + mark + id)); len(found) > 0 {
					t.Errorf("%s, %s: %s", name, id, found[0].Rule)
				}
			}
		}
	}
}

// A token ends where its last piece does, though the joined text goes on.
func TestATokenOfPiecesEndsAtASeam(t *testing.T) {
	s := secrets.New()
	cuts := []string{"<b>", "<wbr>", "<br/>", "<!-- -->", "/* */", "**", "\\\n  ", "\\\n", "\n> ", "\n", "\n// "}
	behind := []string{"\nbob: ok", "\n2. restart", "\n\nThe vendor answered.", "<br>a1b2", "\nAFTER9", "\n# bob: 7"}
	for _, rule := range []string{
		"twilio-api-key", "tencent-key-id", "mailgun", "firecrawl", "crates-io", "dingtalk-sign", "onepassword-secret", "alibaba-key-id",
		"octopus", "checkly", "mailchimp", "azure-key",
	} {
		for _, token := range secretstest.Forms(rule, seeded(9)) {
			n := len(token)
			for i, cut := range cuts {
				rest := behind[i%len(behind)]
				for _, pieces := range [][]string{
					{token[:2], token[2:]}, {token[:n-2], token[n-2:]}, {token[:n/2], token[n/2:]}, {token[:3], token[3 : n-4], token[n-4:]},
					{token[:n/4], token[n/4 : n/2], token[n/2 : n-3], token[n-3:]},
				} {
					text := "alice\n" + strings.Join(pieces, cut) + rest
					if !finds(s.Scan([]byte(text)), rule) {
						t.Errorf("%s passes in %q", rule, text)
					}
				}
			}
		}
	}
}

// An encoded token is found wherever its run begins and ends, and whatever
// case it is written in.
func TestAnEncodedTokenIsFoundInAnyCaseAndPlace(t *testing.T) {
	s := secrets.New()
	token := secretstest.Generate("aws-access-key-id", seeded(6))
	b32 := base32.StdEncoding.EncodeToString([]byte(token))
	for name, run := range map[string]string{
		"base 32": b32, "base 32 without padding": strings.TrimRight(b32, "="), "base 32 in lower case": strings.ToLower(b32),
		"base 32 in lower case without padding": strings.ToLower(strings.TrimRight(b32, "=")),
		"base 64":                               base64.RawStdEncoding.EncodeToString([]byte(token)), "hexadecimal": hex.EncodeToString([]byte(token)),
		"hexadecimal in upper case": strings.ToUpper(hex.EncodeToString([]byte(token))),
	} {
		for before := range 45 {
			for _, after := range []string{"", "!", " and so on", "\n\nThe vendor answered after two days."} {
				if lead := strings.Repeat("go! ", 12)[:before] + ":"; !finds(s.Scan([]byte(lead+run+after)), "aws-access-key-id") {
					t.Errorf("%s %d bytes into a text, before %q: passes", name, len(lead), after)
				}
			}
		}
	}
}

func TestLongWordsInLowerCaseAreNoEncodedTokens(t *testing.T) {
	s := secrets.New()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 5, 30).Draw(t, "words")
		clean(t, s, strings.Join(words, "")+" and "+strings.Join(words, "2")+" and "+rapid.StringMatching(`[a-z2-7]{20,60}`).Draw(t, "id"))
	})
}

func TestWordsWithAMarkAndNumbersAreAPassword(t *testing.T) {
	s := secrets.New()
	for _, value := range []string{"Harbor-45" + "Lamp1", "Copper_37" + "Tunnel2", "Winter.2024" + "Lamp12", "Blaukraut-50" + "Blau5", "Lamp12-" + "Harbor77"} {
		for _, place := range []string{"password: %", "的 password 是 %", "パスワードは %", "비밀번호는 %", "这个 db_password 已经改成 %。", `{\\\"password\\\":\\\"%\\\"}`, "DB_PASSWORD='%'", "The password is %."} {
			if len(s.Scan([]byte(strings.Replace(place, "%", value, 1)))) == 0 {
				t.Errorf("%s passes %d characters", place, len(value))
			}
		}
	}
	for _, text := range []string{
		"password: Argon2id-v19", "password: Pbkdf2-Sha256", "password = Sha512-Salt16", "key: Week42-Sprint3", "secret: Release-45Beta1", "the password Harbor-45Lamp1x is gone? no: password reset-12",
	} {
		if found := s.Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %s", text, found[0].Rule)
		}
	}
}

func TestAPasswordIsFoundBehindAComma(t *testing.T) {
	s := secrets.New()
	for _, place := range []string{"here is the password, %, please store it", "new password, %", "the passphrase, %; keep it", "here is the passwd,  % ."} {
		if len(s.Scan([]byte(strings.Replace(place, "%", password(), 1)))) == 0 {
			t.Errorf("%s passes", place)
		}
	}
	for _, text := range []string{
		"user, password, LastLogin2, Email", "the password, the session token and OAuth2 are out of scope", "no password, SHA-256 only", "password, 2026-10-12T08:00:00Z, ok",
		"id,password,created_at", "the password, commit 4f3a9c0d1e5b6a7f8091a2b3c4d5e6f708192a3b",
	} {
		if found := s.Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %s", text, found[0].Rule)
		}
	}
}

func TestHalvesInRowsAndBehindChineseWordsArePutTogether(t *testing.T) {
	s := secrets.New()
	for _, rule := range []string{"github-pat", "npm-token", "digitalocean-pat", "stripe-live"} {
		token := secretstest.Generate(rule, seeded(8))
		for _, place := range []string{
			"前半段 %，后半段 %", "第一部分：%，第二部分：%", "前半段 %；后面是 %。", "| a | % |\n| b | % |", "|a|%|\n|b|%|", "| part | value |\n| --- | --- |\n| first | % |\n| second | % |",
		} {
			text := strings.Replace(strings.Replace(place, "%", token[:len(token)/2], 1), "%", token[len(token)/2:], 1)
			if !finds(s.Scan([]byte(text)), rule) {
				t.Errorf("%s: %s passes", place, rule)
			}
		}
	}
}

// A value that is a name with its value is judged once, by the name that says
// more; what is read for a name is not judged again for each name in it.
func TestAValueWithANameOfItsOwnIsJudgedByIt(t *testing.T) {
	s := secrets.New()
	for _, text := range []string{
		"password=password=%", "DB_PASSWORD=password=%", "secret: 'password=%'", `"api_key": "password:%"`, "password=user=%", "client_secret=token=%",
		"password=" + strings.Repeat("password=", 40) + "%", "password=" + strings.Repeat("x&password=", 40) + "%",
	} {
		if len(s.Scan([]byte(strings.ReplaceAll(text, "%", password())))) == 0 {
			t.Errorf("%.60s passes", text)
		}
	}
	long := strings.Repeat(bare(5), 5) // longer than any password
	for _, text := range []string{"secret=%", "PRIVATE_KEY: %", `signing_key = "%"`, "password=%"} {
		if len(s.Scan([]byte(strings.ReplaceAll(text, "%", long[:160])))) == 0 {
			t.Errorf("%s passes 160 bytes", text)
		}
	}
}
