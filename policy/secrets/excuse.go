package secrets

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// An Excuse says of a match that it is no finding: someone has answered for
// it. Of the match it sees rule, fingerprint and whether it is certain.
type Excuse func(Finding) bool

// Excusing returns a scanner that asks excuse about every match and puts under
// each finding's value the fingerprint by the key. No key means no fingerprints,
// no excuse that nothing is excused. Only matches can be: TooComplex never.
func (s *Scanner) Excusing(key []byte, excuse Excuse) *Scanner {
	excusing := *s
	excusing.key, excusing.excuse = key, excuse
	return &excusing
}

// fingerprintSize is how many bytes of the code are kept: enough to name one
// of a team's values.
const fingerprintSize = 8

// Fingerprint names a value without telling it to those who do not have the
// key: 16 hexadecimal digits, of HMAC-SHA-256 over the value as it looks, with
// no white space around it.
func Fingerprint(key, value []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("cairn-fingerprint-v1\x00"))
	mac.Write(plainly(value))
	return hex.EncodeToString(mac.Sum(nil)[:fingerprintSize])
}

// plainly is a value as it looks.
func plainly(value []byte) []byte {
	if folded, ok := fold(view{text: value}); ok {
		value = folded.text
	}
	return bytes.TrimSpace(value)
}

// note keeps a match as a finding, unless it is excused or there are too many.
func (r *reading) note(v view, f Finding, m match) {
	if len(r.findings) >= maxFindings {
		return
	}
	where := v.raw(m.span)
	f.Start, f.End = where.start, where.end
	value := m.in(v.text)
	if len(r.key) > 0 {
		f.Fingerprint = Fingerprint(r.key, value)
	}
	if r.excuse == nil {
		r.findings = addFinding(r.findings, f)
		return
	}
	value = plainly(value)
	switch {
	case r.excuse(f):
		r.excused = append(r.excused, excused{f.Rule, string(value)})
	case !r.isExcusedInPart(v, f, value):
		r.findings = addFinding(r.findings, f)
	}
}

// excused is a value that was excused for a rule.
type excused struct{ rule, value string }

// isExcusedInPart reports an excused value that was seen again where lines are
// joined, together with what stands on the next one.
func (r *reading) isExcusedInPart(v view, f Finding, value []byte) bool {
	if !v.kind.scrambled() || f.Certain {
		return false
	}
	for _, e := range r.excused {
		if e.rule == f.Rule && bytes.HasPrefix(value, []byte(e.value)) {
			return true
		}
	}
	return false
}
