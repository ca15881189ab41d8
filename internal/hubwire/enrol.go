package hubwire

import (
	"crypto/ed25519"
	"errors"
	"strings"

	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/lazyregexp"
)

// enrolPrefix keeps the signature of an enrolment from being taken for any
// other; the SSH session id after it keeps it from being used a second time.
const enrolPrefix = "cairn-enrol-v1\x00"

// An EnrolRequest asks that a key become a device. It is sent on a connection
// that an invite's key opened.
type EnrolRequest struct {
	DeviceKey []byte `json:"device_key"` // the ed25519 public key
	Name      string `json:"name"`       // of the device, for people
	Signature []byte `json:"signature"`  // by the device's key, over this SSH session
}

// Enrolled is what an enrolment brought.
type Enrolled struct {
	Hub    event.ID       `json:"hub_id"`
	Person string         `json:"person"`
	Device event.DeviceID `json:"device"`
	Spaces []SpaceInfo    `json:"spaces"`
}

// ErrEnrolment means that an enrolment is malformed, or that its signature
// does not prove that the sender holds the device's key on this connection.
var ErrEnrolment = errors.New("the enrolment is malformed or its signature does not fit this connection")

// NewEnrolRequest signs for key on the SSH connection with the given session
// id. The name is brought into form by DeviceName.
func NewEnrolRequest(key device.Key, name string, sessionID []byte) EnrolRequest {
	return EnrolRequest{
		DeviceKey: key.Public(),
		Name:      DeviceName(name),
		Signature: key.SignBytes(enrolText(sessionID)),
	}
}

// Key checks the request against the SSH session on which it came and returns
// the device's public key. The error is ErrEnrolment.
func (r EnrolRequest) Key(sessionID []byte) (ed25519.PublicKey, error) {
	if len(r.DeviceKey) != ed25519.PublicKeySize || !deviceName().MatchString(r.Name) || len(sessionID) == 0 {
		return nil, ErrEnrolment
	}
	key := ed25519.PublicKey(r.DeviceKey)
	if !ed25519.Verify(key, enrolText(sessionID), r.Signature) {
		return nil, ErrEnrolment
	}
	return key, nil
}

func enrolText(sessionID []byte) []byte {
	return append([]byte(enrolPrefix), sessionID...)
}

var deviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$`)

// DeviceName brings a machine's own name into the form that a hub takes:
// letters, digits, space, dot, dash and underscore, at most 64 of them.
func DeviceName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ._-", r):
			return r
		default:
			return '-'
		}
	}, name)
	clean = strings.TrimLeft(clean, " ._-")
	clean = strings.TrimSpace(clean[:min(len(clean), 64)])
	if clean == "" {
		return "device"
	}
	return clean
}

// RuleRevoked is the rule that the enrolment of a revoked key breaks. Another
// key is welcome with the same invite.
const RuleRevoked = "revoked"
