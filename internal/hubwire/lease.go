package hubwire

import (
	"encoding/hex"
	"strings"

	"cairn/internal/commitform"
)

// Lease is the word for what a device pushed last. With a commit behind it,
// "cairn-last=<40 hex>", it is a capability of a push's advert: what the hub
// has on record for the device that asks, zero for nothing. As a push option it
// is what the device itself knows, once for each of its newest pushes, also
// those to which it heard no answer. If none of them is on record, another copy
// of the machine has pushed with the same key.
const Lease = "cairn-last"

// RuleClone is the rule that such a push breaks.
const RuleClone = "clone"

// FormatLease is the option or capability for a commit.
func FormatLease(commit commitform.Hash) string { return Lease + "=" + hex.EncodeToString(commit[:]) }

// ParseLease reads what FormatLease made; false for anything else.
func ParseLease(s string) (commit commitform.Hash, ok bool) {
	digits, ok := strings.CutPrefix(s, Lease+"=")
	if !ok || len(digits) != hex.EncodedLen(len(commit)) {
		return commit, false
	}
	_, err := hex.Decode(commit[:], []byte(digits))
	return commit, err == nil && FormatLease(commit) == s
}
