package event

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"cairn/internal/lazyregexp"
)

// A DeviceID names an enrolled machine: the first 26 characters of lower-case
// base 32 (RFC 4648) of the SHA-256 of its ed25519 public key.
type DeviceID string

// MinDeviceStart is how many characters of the start of a DeviceID name its
// device, for people: no two of anybody's devices begin alike.
const MinDeviceStart = 6

var deviceForm = lazyregexp.New(`^[a-z2-7]{26}$`)

// ParseDeviceID checks the form of s.
func ParseDeviceID(s string) (DeviceID, error) {
	if !deviceForm().MatchString(s) {
		return "", errors.New("a device id is 26 characters of lower-case base 32")
	}
	return DeviceID(s), nil
}

// DeviceOf is the id of the device that holds the private half of key.
func DeviceOf(key ed25519.PublicKey) DeviceID {
	sum := sha256.Sum256(key)
	return DeviceID(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26])
}

// A Signature is the device's ed25519 signature over an event. Key is the
// public key, Value the signature, both in standard base 64.
type Signature struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// signedPrefix keeps an event's signature from being taken for any other,
// such as the one of an SSH login.
const signedPrefix = "cairn-event-v1\x00"

// ErrBadSignature means that the signature does not fit the event, or that its
// key is not the key of the device named as the actor's. Refuse the event.
var ErrBadSignature = errors.New("the event's signature does not verify")

// ErrUnsigned means that the event has no signature.
var ErrUnsigned = errors.New("the event is not signed")

// Sign returns e with its signature by key. The actor's device must be the
// device of that key.
func Sign(e Event, key ed25519.PrivateKey) (Event, error) {
	pub := key.Public().(ed25519.PublicKey)
	if e.Actor.Device != DeviceOf(pub) {
		return Event{}, fmt.Errorf("sign event %s: the key is not the key of its device", e.ID)
	}
	text, err := signedText(e)
	if err != nil {
		return Event{}, err
	}
	e.Sig = &Signature{
		Key:   base64.StdEncoding.EncodeToString(pub),
		Value: base64.StdEncoding.EncodeToString(ed25519.Sign(key, text)),
	}
	return e, nil
}

// Verify checks the signature of e against the key it carries and the device
// it claims. Errors: ErrUnsigned, ErrBadSignature.
func (e Event) Verify() error {
	if e.Sig == nil {
		return ErrUnsigned
	}
	key, err := exactBase64(e.Sig.Key, ed25519.PublicKeySize)
	if err != nil {
		return ErrBadSignature
	}
	value, err := exactBase64(e.Sig.Value, ed25519.SignatureSize)
	if err != nil {
		return ErrBadSignature
	}
	text, err := signedText(e)
	if err != nil {
		return err
	}
	if DeviceOf(key) != e.Actor.Device || !ed25519.Verify(key, text, value) {
		return ErrBadSignature
	}
	return nil
}

func signedText(e Event) ([]byte, error) {
	b, err := Unsigned(e)
	if err != nil {
		return nil, err
	}
	return append([]byte(signedPrefix), b...), nil
}

// exactBase64 refuses any second way to write the same bytes.
func exactBase64(s string, size int) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != size || base64.StdEncoding.EncodeToString(b) != s {
		return nil, ErrBadSignature
	}
	return b, nil
}
