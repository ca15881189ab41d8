package secrets_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// with is a scanner with rules of a team's own.
func with(t *testing.T, own ...secrets.Pattern) *secrets.Scanner {
	t.Helper()
	p, err := secrets.NewPatterns(own...)
	if err != nil {
		t.Fatal(err)
	}
	return secrets.New().With(p)
}

// own is one with one of them.
func own(t *testing.T) *secrets.Scanner {
	t.Helper()
	return with(t, secrets.Pattern{
		ID: "acme-key", Match: regexp.MustCompile(`adk_[0-9A-Za-z]{40}`), Literals: []string{"adk_"}, Longest: 44, Entropy: 3.2,
	})
}

func acmeKey(r *rand.Rand) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	key := []byte("adk_")
	for range 40 {
		key = append(key, letters[r.IntN(len(letters))])
	}
	return string(key)
}

func TestAPatternIsFoundInEveryDisguise(t *testing.T) {
	s := own(t)
	r := seeded(11)
	for _, e := range secretstest.Evasions() {
		text := e.Apply(r, acmeKey(r))
		if !finds(s.Scan([]byte(text)), "acme-key") {
			t.Errorf("%s hides it", e.Name)
		}
	}
	if finds(secrets.New().Scan([]byte(acmeKey(r))), "acme-key") {
		t.Error("a pattern of one scanner is in another")
	}
}

func TestAPatternMatchesOnlyWhatItSays(t *testing.T) {
	s := own(t)
	for _, text := range []string{"adk_", "the prefix is adk_ and 40 letters", "adk_docs_page", "adk_" + strings.Repeat("a", 40), acmeKey(seeded(1))[:43]} {
		if f := s.Scan([]byte(text)); finds(f, "acme-key") {
			t.Errorf("%s is found", text)
		}
	}
	r := seeded(12)
	for range 20 {
		for _, sample := range secretstest.Clean(r) {
			if f := s.Scan([]byte(sample.Text)); len(f) > 0 {
				t.Errorf("%s: %+v", sample.Sort, f)
			}
		}
	}
}

// A literal need not stand at the start of a match, nor a match end.
func TestAnOpenPatternIsFoundAroundItsLiteral(t *testing.T) {
	s := with(t, []secrets.Pattern{
		{ID: "open", Match: regexp.MustCompile(`\b[0-9]+-acme-[0-9]+\b`), Literals: []string{"-acme-"}},
		{ID: "any-case", Match: regexp.MustCompile(`(?i)tick[0-9]{4}`), Literals: []string{"TICK"}, Longest: 8},
	}...)
	far := strings.Repeat("lorem ipsum ", 30_000)
	for text, want := range map[string]string{
		far + "1234-acme-5678 " + far: "open",
		far + "x1234-acme-5678 ":      "",
		"TiCk1234":                    "any-case",
		"tick12":                      "",
	} {
		f := s.Scan([]byte(text))
		if (len(f) > 0) != (want != "") || want != "" && f[0].Rule != want {
			t.Errorf("%.20s…: %+v, want %q", text, f, want)
		}
	}
}

// A text made to keep the expressions busy is refused, not read for minutes.
func TestAPatternThatWorksTooMuchIsRefused(t *testing.T) {
	var many []secrets.Pattern
	for range 200 {
		many = append(many, secrets.Pattern{ID: "busy", Match: regexp.MustCompile(`adk_(?:[a-z ]+[0-9])+!`), Literals: []string{"adk_"}})
	}
	s := with(t, many...)
	if f := s.Scan(bytes.Repeat([]byte("adk_ word and word "), 50_000)); !finds(f, secrets.TooComplex) {
		t.Errorf("it passes with %+v", f)
	}
	if f := s.Scan(bytes.Repeat([]byte("adk_ word and word "), 20)); len(f) > 0 {
		t.Errorf("a small one is refused: %+v", f)
	}
}

var teamKey = []byte("the key of a team, 32 bytes long")

// excusing excuses one value for one rule.
func excusing(s *secrets.Scanner, rule, value string) *secrets.Scanner {
	fingerprint := secrets.Fingerprint(teamKey, []byte(value))
	return s.Excusing(teamKey, func(f secrets.Finding) bool { return f.Rule == rule && f.Fingerprint == fingerprint })
}

func TestAnExcuseIsForOneValueOfOneRule(t *testing.T) {
	r := seeded(13)
	known, other := acmeKey(r), acmeKey(r)
	s := excusing(own(t), "acme-key", known)
	for name, text := range map[string]string{
		"alone":          known,
		"twice":          known + " and " + known,
		"in a sentence":  "use " + known + ". Thanks",
		"before a line":  known + "\nand more words",
		"with a hyphen":  known[:9] + "\u00ad" + known[9:],
		"in base 64":     base64.StdEncoding.EncodeToString([]byte("the key is " + known)),
		"as JSON string": `{"text": "` + known + `"}`,
	} {
		if f := s.Scan([]byte(text)); len(f) > 0 {
			t.Errorf("%s: refused by %+v", name, f)
		}
	}
	for name, text := range map[string]string{
		"another":             other,
		"both":                known + " " + other,
		"both in one base 64": base64.StdEncoding.EncodeToString([]byte(known + " " + other)),
		"another, split":      known + "\n" + other[:9] + "\n" + other[9:],
		"behind a thousand":   strings.Repeat(known+"\n", 2000) + other,
		"of another rule":     known + " " + secretstest.Generate("github-pat", r),
	} {
		if f := s.Scan([]byte(text)); len(f) == 0 {
			t.Errorf("%s: passes", name)
		}
	}
}

// What goes on where lines are joined is no other value.
func TestAnExcusedValueThatIsJoinedToTheNextLine(t *testing.T) {
	s := with(t, secrets.Pattern{ID: "open", Match: regexp.MustCompile(`adk_[0-9A-Za-z]{20,}`), Literals: []string{"adk_"}})
	known := acmeKey(seeded(14))
	s = excusing(s, "open", known)
	if f := s.Scan([]byte(known + "\nnext line")); len(f) > 0 {
		t.Errorf("%+v", f)
	}
	if f := s.Scan([]byte(known + "more")); len(f) == 0 {
		t.Error("a longer value on one line passes")
	}
}

func TestFingerprintsNeedTheKeyAndTellNothing(t *testing.T) {
	value := acmeKey(seeded(15))
	a := secrets.Fingerprint(teamKey, []byte(value))
	if len(a) != 16 || a != secrets.Fingerprint(teamKey, []byte(" "+value[:5]+"\u200b"+value[5:]+"\n")) {
		t.Errorf("%s does not stand for the value as it looks", a)
	}
	if a == secrets.Fingerprint([]byte("another key"), []byte(value)) || a == secrets.Fingerprint(teamKey, []byte(value+"x")) {
		t.Error("another key or value has the same fingerprint")
	}
	s := own(t)
	if f := s.Scan([]byte(value)); len(f) != 1 || f[0].Fingerprint != "" {
		t.Errorf("without a key: %+v", f)
	}
	if f := s.Excusing(teamKey, nil).Scan([]byte(value)); len(f) != 1 || f[0].Fingerprint != a {
		t.Errorf("with the key: %+v, want %s", f, a)
	}
}

// Nothing can excuse a text that could not be read to its end, and what is a
// key block says so.
func TestWhatAnExcuseSees(t *testing.T) {
	r := seeded(16)
	var certain, uncertain int
	s := secrets.New().Excusing(teamKey, func(f secrets.Finding) bool {
		switch {
		case f.Rule == "" || f.Fingerprint == "" || f.Rule == secrets.TooComplex:
			t.Errorf("asked about %+v", f)
		case f.Certain:
			certain++
		default:
			uncertain++
		}
		return true
	})
	for _, rule := range []string{"github-pat", "private-key", "putty-ppk", "pgp-private"} {
		if s.Scan([]byte(secretstest.Generate(rule, r))); certain == 0 {
			t.Errorf("%s is not certain", rule)
		}
		certain = 0
	}
	if s.Scan([]byte(secretstest.Generate("stripe-test", r))); uncertain == 0 {
		t.Error("a token without a checksum is certain")
	}
	if f := s.Scan(secretstest.Gzip(make([]byte, 2<<20))); !finds(f, secrets.TooComplex) {
		t.Errorf("a bomb is excused: %+v", f)
	}
}

// What an expression may cost is counted in its steps, also where it looks far
// behind each match for a longer one. Beyond that the text is refused.
func TestAPatternCannotStallTheGate(t *testing.T) {
	for name, c := range map[string]struct{ match, piece string }{
		"many matches that could go on": {`acme(?:[^\n]*STOP)?`, "acme" + strings.Repeat("x", 100)},
		"many steps for each byte":      {`[a-q]{0,450}acme[0-9]`, "acme"},
	} {
		s := with(t, secrets.Pattern{ID: "dear", Match: regexp.MustCompile(c.match), Literals: []string{"acme"}, Entropy: 6})
		text := strings.Repeat(c.piece, 200<<10/len(c.piece))
		if f := s.Scan([]byte(text)); !finds(f, secrets.TooComplex) {
			t.Errorf("%s: %d findings", name, len(f))
		}
		if f := s.Scan([]byte(text[:1<<10])); len(f) > 0 {
			t.Errorf("%s, but little of it: %+v", name, f)
		}
	}
	if f := own(t).Scan([]byte(strings.Repeat("adk_docs_page and more\n", 40_000))); len(f) > 0 {
		t.Errorf("a text full of the literal: %+v", f[0])
	}
}
