package secrets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// bare is a value that only its name shows to be secret.
func bare(seed uint64) string {
	_, value, _ := strings.Cut(secretstest.Forms("named-value", seeded(seed))[12], " = ")
	return value
}

func TestANameIsContextForItsValue(t *testing.T) {
	s := secrets.New()
	value := []byte(bare(1))
	if f := s.Scan(value); len(f) > 0 {
		t.Fatalf("%s finds a value without a name", f[0].Rule)
	}
	for _, name := range []string{"password", "db.password", "API_KEY", "clientSecret", "stripe secret key"} {
		f := s.ScanNamed(name, value)
		if len(f) != 1 || f[0].Start != 0 || f[0].End != len(value) {
			t.Errorf("%s: findings %+v, want the whole value of %d bytes", name, f, len(value))
		}
	}
	for _, name := range []string{"title", "key", "public key", "password hash", "token type", "secret name", ""} {
		if f := s.ScanNamed(name, value); len(f) > 0 {
			t.Errorf("%s makes %s find a value", name, f[0].Rule)
		}
	}
}

func TestTheFinderKnowsEveryNoun(t *testing.T) {
	if lost := secrets.NounsWithoutStem(); len(lost) > 0 {
		t.Errorf("the finder overlooks %v", lost)
	}
}

func TestJSONIsReadByNameAndValue(t *testing.T) {
	s := secrets.New()
	token := secretstest.Generate("github-pat", seeded(2))
	cases := map[string]any{
		"a member":          map[string]any{"api_key": bare(1)},
		"an element":        map[string]any{"passwords": []string{"none", bare(2)}},
		"a deep member":     map[string]any{"a": []any{map[string]any{"b": 1, "clientSecret": bare(3)}}},
		"a token":           []any{1, true, nil, token},
		"a name":            map[string]any{token: 1},
		"JSON in a string":  map[string]any{"text": `{"client_secret": "` + bare(4) + `"}`},
		"after a container": map[string]any{"a": []any{}, "password": bare(5)},
	}
	for name, value := range cases {
		document, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if len(s.ScanJSON(document)) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
	if f := s.ScanJSON([]byte(`{"name": "` + token + `", "broken": `)); len(f) == 0 {
		t.Error("a token in damaged JSON is not found")
	}
}

func TestAFindingInJSONSaysWhere(t *testing.T) {
	value := bare(6)
	document := `{"title": "x", "secret": "` + value + `"}`
	at := strings.Index(document, value)
	for _, f := range secrets.New().ScanJSON([]byte(document)) {
		if f.Start < at || f.End > at+len(value) {
			t.Errorf("%+v, the value is at %d to %d", f, at, at+len(value))
		}
	}
}

func TestOrdinaryRecordsAreClean(t *testing.T) {
	document := `{"schema": 1, "id": "01j5q2m7v9k3x4c6b8n0ptrsw2", "actor": {"id": "claude-code", "device": "k5x7q2m4v3n6b7c2d5f3g4h6j2"},
 "key": "` + strings.Repeat("3f9a1c07", 8) + `", "tags": ["tokens", "auth"], "content_hash": "sha256:` + strings.Repeat("b27d90e4", 8) + `"}`
	if f := secrets.New().ScanJSON([]byte(document)); len(f) > 0 {
		t.Errorf("%s finds something in a record", f[0].Rule)
	}
}
