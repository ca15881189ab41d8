package secrets

import (
	"strings"
	"testing"
)

// A rule that panics has not read the text, and what it says may quote it.
func TestAPanicRefusesTheTextAndSaysNothingOfIt(t *testing.T) {
	broken, err := compile([]*rule{{id: "broken", literals: list{"marker"}, names: list{"marking"}, check: func(text []byte, _ span) (match, bool) {
		panic(string(text))
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &Scanner{engine: broken}
	const text = "a marker and more"
	for name, found := range map[string][]Finding{
		"text": s.Scan([]byte(text)), "a named value": s.ScanNamed("password", []byte(text)), "JSON": s.ScanJSON([]byte(`{"a":"` + text + `"}`)),
	} {
		if len(found) != 1 || found[0].Rule != TooComplex || found[0].Start != 0 || found[0].End < len(text) {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := s.Scan([]byte("nothing")); len(found) > 0 {
		t.Errorf("a text that the rule does not meet: %+v", found)
	}
}

// Words of a wallet are counted where they are read, whatever stands between.
func TestNumberedWordsMayTouch(t *testing.T) {
	words := strings.Fields("abandon ability able about above absent absorb abstract absurd abuse access acid")
	for _, joint := range []string{" ", "1.", "2) ", "\n3. ", "4:"} {
		found := New().Scan([]byte("seed phrase: " + strings.Join(words, joint)))
		if len(found) == 0 || found[0].Rule != "seed-phrase" {
			t.Errorf("between words %q: %+v", joint, found)
		}
	}
	words[3] = "the"
	if found := New().Scan([]byte("seed phrase: " + strings.Join(words, " ") + " is a sentence")); len(found) > 0 {
		t.Errorf("a sentence: %+v", found)
	}
}
