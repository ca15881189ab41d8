package versions

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"cairn/internal/event"
)

// First is the number of a team's first version. Number 1 stands for the
// built-in rules, which every event carries where no team has written any.
const First = 2

// Operator stands for a person where the hub's own key has signed: whoever
// sits at the hub's machine. An operator counts as one approval.
const Operator = "(operator)"

// format is the version of these records that this package writes.
const format = 1

// A Hash is a SHA-256; as text, 64 lower-case hexadecimal digits.
type Hash [sha256.Size]byte

// HashOf is the hash of b.
func HashOf(b []byte) Hash { return sha256.Sum256(b) }

// IsZero says whether it is no hash at all.
func (h Hash) IsZero() bool { return h == Hash{} }

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short is enough of it for people to compare.
func (h Hash) Short() string { return h.String()[:12] }

// MarshalText is String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote, and nothing else.
func (h *Hash) UnmarshalText(b []byte) error {
	var out Hash
	if len(b) != hex.EncodedLen(len(out)) {
		return ErrForm
	}
	if _, err := hex.Decode(out[:], b); err != nil || out.String() != string(b) {
		return ErrForm
	}
	*h = out
	return nil
}

// A Proposal is what admins sign: the next version and all that it rests on.
type Proposal struct {
	Format    int        `json:"format"`
	Hub       event.ID   `json:"hub"`
	Number    int        `json:"number"`
	Previous  Hash       `json:"previous"` // of the version before; zero for the first
	File      Hash       `json:"file"`     // of the policy file's bytes
	Team      string     `json:"team"`
	Admins    []string   `json:"admins"`    // who may sign the next version; sorted
	Approvals int        `json:"approvals"` // how many of them the next version needs
	By        string     `json:"by"`
	At        event.Time `json:"at"`
	Restores  int        `json:"restores,omitempty"` // number of the version whose file it brings back
}

// An Approval is one person's signature under a Proposal.
type Approval struct {
	Person    string            `json:"person"` // or Operator
	Key       ed25519.PublicKey `json:"key"`
	Signature []byte            `json:"signature"`
}

// A Version is a proposal with its approvals, sealed by the hub once these are
// enough. Without a seal it is one that still waits.
type Version struct {
	Proposal
	Approved []Approval `json:"approved"`
	InForce  event.Time `json:"in_force,omitzero"` // since when, by the hub's clock; older hubs did not say
	Seal     []byte     `json:"seal,omitempty"`
}

// Began is since when the version is in force, as far as it says.
func (v Version) Began() time.Time {
	if v.InForce.IsZero() {
		return v.At.Time
	}
	return v.InForce.Time
}

// Propose makes the proposal that comes after previous, which is nil for the
// first one. The caller fills in By and At, and Restores where it applies.
func Propose(hub event.ID, previous *Version, file []byte, team string, admins []string, approvals int) Proposal {
	p := Proposal{
		Format: format, Hub: hub, Number: First, File: HashOf(file), Team: team,
		Admins: slices.Compact(slices.Sorted(slices.Values(admins))), Approvals: approvals,
	}
	if previous != nil {
		p.Number, p.Previous = previous.Number+1, previous.Hash()
	}
	return p
}

// Describes says whether p is of file, which names that team, these admins and
// so many approvals. Whoever takes a version, or signs it, asks that first: a
// chain is followed by what the versions say, and judged by what the files do.
func (p Proposal) Describes(file []byte, team string, admins []string, approvals int) bool {
	q := Propose(p.Hub, nil, file, team, admins, approvals)
	return p.File == q.File && p.Team == q.Team && p.Approvals == q.Approvals && slices.Equal(p.Admins, q.Admins)
}

// Hash is that of the canonical bytes.
func (v Version) Hash() Hash { return HashOf(Encode(v)) }

// People are those who have approved.
func (v Version) People() []string {
	var names []string
	for _, a := range v.Approved {
		names = append(names, a.Person)
	}
	return names
}
