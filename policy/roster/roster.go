package roster

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"

	"cairn/internal/event"
	"cairn/internal/invite"
	"cairn/policy/versions"
)

// ErrForm means that bytes are not a list in its one form, or not one that the
// hub signed.
var ErrForm = errors.New("not a list of devices that this hub has signed")

const (
	format     = 1
	signPrefix = "cairn-roster-v1\x00"
)

// MaxBytes bounds a list.
const MaxBytes = 4 << 20

// A Roster is every device that a hub knows, revoked ones too: what these wrote
// before stays theirs.
type Roster struct {
	Format  int      `json:"format"`
	Hub     event.ID `json:"hub"`
	Number  int64    `json:"number"`
	Devices []Device `json:"devices"` // sorted by id
	Sig     []byte   `json:"sig,omitempty"`
}

// A Device is one machine and whose it is.
type Device struct {
	ID      event.DeviceID `json:"id"`
	Person  string         `json:"person"`
	Revoked bool           `json:"revoked,omitempty"`
}

// New is the list of the devices, which are sorted by id, signed with the hub's
// key.
func New(hub event.ID, number int64, devices []Device, key versions.Signer) Roster {
	r := Roster{Format: format, Hub: hub, Number: number, Devices: devices}
	r.Sig = key.SignBytes(r.text())
	return r
}

func (r Roster) text() []byte {
	r.Sig = nil
	return append([]byte(signPrefix), Encode(r)...)
}

// Encode is the one form of a list: compact JSON.
func Encode(r Roster) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("roster: encode: " + err.Error()) // no type here can fail
	}
	return b
}

// Decode reads a list of the hub with that key. The error is ErrForm.
func Decode(b []byte, hub event.ID, key ed25519.PublicKey) (Roster, error) {
	r, err := DecodeOf(b, key)
	if err != nil || r.Hub != hub {
		return Roster{}, ErrForm
	}
	return r, nil
}

// DecodeOf is Decode for whoever knows the hub by its key alone.
func DecodeOf(b []byte, key ed25519.PublicKey) (Roster, error) {
	var r Roster
	if len(b) > MaxBytes || json.Unmarshal(b, &r) != nil || !bytes.Equal(Encode(r), b) || !r.valid() ||
		len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, r.text(), r.Sig) {
		return Roster{}, ErrForm
	}
	return r, nil
}

func (r Roster) valid() bool {
	for i, d := range r.Devices {
		_, err := event.ParseDeviceID(string(d.ID))
		if err != nil || !invite.ValidPerson(d.Person) || i > 0 && r.Devices[i-1].ID >= d.ID {
			return false
		}
	}
	return r.Format == format && r.Number > 0
}
