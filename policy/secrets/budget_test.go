package secrets_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

func TestWhatUnpacksToTooMuchIsRefused(t *testing.T) {
	bomb := secretstest.Gzip(make([]byte, 2<<20))
	nested := []byte("a note of some length, encoded again and again")
	for range 5 {
		nested = []byte(base64.StdEncoding.EncodeToString(nested))
	}
	many := strings.Repeat(base64.StdEncoding.EncodeToString(secretstest.Gzip([]byte("x")))+"\n", 300)
	for name, text := range map[string][]byte{
		"a compressed bomb":      bomb,
		"a bomb in base64":       []byte(base64.StdEncoding.EncodeToString(bomb)),
		"five encodings":         nested,
		"many compressed pieces": []byte(many),
	} {
		if f := secrets.New().Scan(text); !finds(f, secrets.TooComplex) {
			t.Errorf("%s passes with %+v", name, f)
		}
	}
}

func TestLargeOrdinaryTextIsNotTooComplex(t *testing.T) {
	lines := strings.Repeat(base64.StdEncoding.EncodeToString([]byte("a line of a mail in base64, as mailers send them"))+"\n", 2000)
	for name, text := range map[string]string{
		"mail in base64": lines,
		"escapes":        strings.Repeat(`\u4f60\u597d%20&amp;\n`, 10000),
		"zeros":          strings.Repeat("0", 1<<16),
		"threes":         strings.Repeat(strings.Repeat("3", 40)+"\n", 1000),
		"blank lines":    strings.Repeat(" \n", 1<<15),
		"quotes":         strings.Repeat(`" `, 1<<16),
	} {
		if f := secrets.New().Scan([]byte(text)); len(f) > 0 {
			t.Errorf("%s: %+v", name, f[0])
		}
	}
}

// A large note that is full of everything that makes a view.
func TestALargeNoteIsNotTooComplex(t *testing.T) {
	piece := `> | café ﬁne \\\"a\\\" %20 &amp; =3D =41 "x" + "y" **b** <i>c</i> \u0041 0x41 ` + "\n// é # * \t\r\n"
	text := strings.Repeat(piece, 400_000/len(piece))
	if f := secrets.New().Scan([]byte(text)); len(f) > 0 {
		t.Errorf("%+v", f[0])
	}
}

// Whatever stands around a token on other lines, it is found or the whole is
// refused.
func TestNothingAroundATokenHidesIt(t *testing.T) {
	s := secrets.New()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom(hidden).Draw(t, "rule")
		token := secretstest.Generate(rule, seeded(rapid.Uint64().Draw(t, "seed")))
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		if len(s.Scan([]byte(before+"\n"+token+"\n"+after))) == 0 {
			t.Fatalf("%s is hidden", rule)
		}
	})
}

// A scan is a function of the text: the same on every machine, every time,
// from any number of goroutines.
func TestAScanIsAFunctionOfTheText(t *testing.T) {
	s := secrets.New()
	var text []byte
	for _, rule := range secretstest.Rules() {
		text = append(text, secretstest.Generate(rule, seeded(4))+"\n\n"...)
	}
	want := s.Scan(text)
	got := make(chan []secrets.Finding)
	for range 4 {
		go func() { got <- secrets.New().Scan(bytes.Clone(text)) }()
	}
	for range 4 {
		f := <-got
		if len(f) != len(want) {
			t.Fatalf("%d findings, then %d", len(want), len(f))
		}
		for i := range f {
			if f[i] != want[i] {
				t.Fatalf("finding %d is %+v, then %+v", i, want[i], f[i])
			}
		}
	}
}

// The range of a finding holds the token, so that a person can be shown where
// it is.
func TestAFindingCoversItsToken(t *testing.T) {
	s := secrets.New()
	for _, rule := range hidden {
		token := secretstest.Generate(rule, seeded(9))
		for name, write := range map[string]func(string) string{
			"as it is":   func(x string) string { return x },
			"folded":     func(x string) string { return x[:9] + "\u200b" + x[9:] },
			"unescaped":  func(x string) string { return x[:9] + `\u00` + hexOf(x[9]) + x[10:] },
			"joined":     func(x string) string { return x[:9] + "\n" + x[9:] },
			"in base 64": func(x string) string { return base64.StdEncoding.EncodeToString([]byte(x)) },
		} {
			written := write(token)
			text := "Hello, 世界: " + written + " and more"
			at := strings.Index(text, written)
			covered := false
			for _, f := range s.Scan([]byte(text)) {
				covered = covered || f.Start <= at+2 && f.End >= at+len(written)-2
			}
			if !covered {
				t.Errorf("%s, %s: no finding covers it", rule, name)
			}
		}
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// However many secrets a text holds, no more than the first of them are kept,
// and compared with what comes after.
func TestFindingsAreKeptUpToALimit(t *testing.T) {
	s := secrets.New()
	for name, text := range map[string]string{
		"one view": strings.Repeat("password="+password()+"\n", 20_000),
		"fields":   "[" + strings.Repeat(`"password=`+password()+`",`, 5000) + "0]",
	} {
		found := s.ScanJSON([]byte(text))
		if n := len(found); n < 1000 || n > 1001 {
			t.Errorf("%s: %d findings", name, n)
		}
	}
}
