package versions

import (
	"crypto/ed25519"
	"time"

	"cairn/internal/event"
)

// What is signed begins with a prefix of its own, so that no signature can be
// taken for one of another kind: an approval for a seal, an event or a login.
const (
	approvalPrefix = "cairn-policy-v1\x00"
	sealPrefix     = "cairn-policy-active-v1\x00"
)

// A Signer is a private key that can sign bytes, such as a device's.
type Signer interface {
	Public() ed25519.PublicKey
	SignBytes([]byte) []byte
}

// Approve signs the proposal as person.
func (p Proposal) Approve(person string, key Signer) Approval {
	return Approval{Person: person, Key: key.Public(), Signature: key.SignBytes(p.approvalText(person))}
}

// Verify says whether the approval is a good signature under the proposal by
// the key it names. Whose key that is, is not asked here.
func (a Approval) Verify(p Proposal) bool {
	return len(a.Key) == ed25519.PublicKeySize && ed25519.Verify(a.Key, p.approvalText(a.Person), a.Signature)
}

// approvalText names the person too: a signature given as one person is not
// another's.
func (p Proposal) approvalText(person string) []byte {
	return append([]byte(approvalPrefix+person+"\x00"), encode(p)...)
}

// SealedAt returns v, which comes after last, as in force since at, with the
// hub's seal. Its time never lies before that of last or of the proposal.
func (v Version) SealedAt(at time.Time, last *Version, hub Signer) Version {
	if at.Before(v.At.Time) {
		at = v.At.Time
	}
	if last != nil && at.Before(last.Began()) {
		at = last.Began()
	}
	v.InForce = event.NewTime(at)
	return v.Sealed(hub)
}

// Sealed returns v with the hub's seal, which covers the approvals and since
// when it is in force.
func (v Version) Sealed(hub Signer) Version {
	v.Seal = hub.SignBytes(v.sealText())
	return v
}

func (v Version) sealText() []byte {
	v.Seal = nil
	return append([]byte(sealPrefix), encode(v)...)
}
