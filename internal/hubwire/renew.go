package hubwire

import (
	"crypto/ed25519"

	"cairn/internal/device"
	"cairn/internal/event"
)

// renewPrefix is to a renewal what enrolPrefix is to an enrolment.
const renewPrefix = "cairn-renew-v1\x00"

// A RenewRequest asks that a key become a device beside the one that logged
// in: of the same person, with the same rights and name. It is how a machine
// that was copied together with its key, or restored from a backup, gets a key
// of its own.
type RenewRequest struct {
	DeviceKey []byte `json:"device_key"` // the ed25519 public key
	Signature []byte `json:"signature"`  // by that key, over this SSH session
}

// Renewed is what a renewal brought.
type Renewed struct {
	Device event.DeviceID `json:"device"`
}

// NewRenewRequest signs for key on the SSH connection with the given session
// id.
func NewRenewRequest(key device.Key, sessionID []byte) RenewRequest {
	return RenewRequest{DeviceKey: key.Public(), Signature: key.SignBytes(renewText(sessionID))}
}

// Key checks the request against the SSH session on which it came and returns
// the new device's public key. The error is ErrEnrolment.
func (r RenewRequest) Key(sessionID []byte) (ed25519.PublicKey, error) {
	if len(r.DeviceKey) != ed25519.PublicKeySize || len(sessionID) == 0 {
		return nil, ErrEnrolment
	}
	key := ed25519.PublicKey(r.DeviceKey)
	if !ed25519.Verify(key, renewText(sessionID), r.Signature) {
		return nil, ErrEnrolment
	}
	return key, nil
}

func renewText(sessionID []byte) []byte { return append([]byte(renewPrefix), sessionID...) }
