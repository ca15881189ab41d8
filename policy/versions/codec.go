package versions

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cairn/internal/event"
	"cairn/internal/invite"
)

// MaxBytes bounds a version's canonical bytes.
const MaxBytes = 64 << 10

// maxAdmins bounds a version's list of admins, and with it its approvals.
const maxAdmins = 100

// maxTeam bounds a team's name.
const maxTeam = 100

// Encode is the one form of a version: compact JSON with the members in a
// fixed order, as the types list them.
func Encode(v Version) []byte { return encode(v) }

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("versions: encode: %v", err)) // no type here can fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Decode reads what Encode wrote; the error is ErrForm. It does not look at
// signatures.
func Decode(b []byte) (Version, error) {
	var v Version
	if len(b) > MaxBytes || json.Unmarshal(b, &v) != nil || !v.valid() || !bytes.Equal(Encode(v), b) {
		return Version{}, ErrForm
	}
	return v, nil
}

func (v Version) valid() bool {
	return v.Proposal.valid() && len(v.Approved) >= 1 && len(v.Approved) <= maxAdmins+1
}

func (p Proposal) valid() bool {
	_, err := event.ParseID(string(p.Hub))
	first := p.Number == First
	return err == nil && p.Format == format && p.Number >= First && first == p.Previous.IsZero() &&
		!p.File.IsZero() && p.Team != "" && len(p.Team) <= maxTeam && p.validAdmins() &&
		(p.By == Operator || invite.ValidPerson(p.By)) && !p.At.IsZero() &&
		(p.Restores == 0 || p.Restores >= First && p.Restores < p.Number)
}

func (p Proposal) validAdmins() bool {
	if len(p.Admins) == 0 || len(p.Admins) > maxAdmins || p.Approvals < 1 || p.Approvals > len(p.Admins) {
		return false
	}
	for i, name := range p.Admins {
		if !invite.ValidPerson(name) || i > 0 && p.Admins[i-1] >= name {
			return false
		}
	}
	return true
}
