package secrets_test

import (
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

func FuzzScan(f *testing.F) {
	r := seeded(1)
	for _, rule := range secretstest.Rules() {
		f.Add([]byte(secretstest.Generate(rule, r)))
	}
	f.Add([]byte("seed phrase: abandon1.ability2.able3.about4.above5.absent6.absorb7.abstract8.absurd9.abuse1.access2.acid"))
	s := secrets.New()
	f.Fuzz(func(t *testing.T, text []byte) {
		s.ScanOrPanic(append([]byte("password = "), text...))
		for _, found := range [][]secrets.Finding{s.ScanOrPanic(text), s.Scan(text), s.ScanNamed("password", text), s.ScanJSON(text)} {
			for _, x := range found {
				if x.Rule == "" || x.Start < 0 || x.End < x.Start || x.End > len(text) {
					t.Fatalf("%+v is no range of %d bytes", x, len(text))
				}
			}
		}
	})
}
