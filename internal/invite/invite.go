package invite

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"cairn/internal/lazyregexp"
)

// Prefix starts every invite text; the digit is the version of the format.
const Prefix = "cairn1."

// maxText bounds what Parse looks at. A real invite has about 250 bytes.
const maxText = 4096

// keyInfo separates this use of the seed from any other (RFC 5869, info).
const keyInfo = "cairn-invite-v1"

// ErrMalformed means that the text is not an invite: cut short, mistyped, or
// of another program. Ask for it again. The error never quotes the text.
var ErrMalformed = errors.New("this is not a cairn invite, which is one whole line that starts with " + Prefix + " and goes on")

// A Seed is the secret in an invite. Printing it shows nothing.
type Seed [32]byte

// String hides the seed.
func (Seed) String() string { return "(seed)" }

// GoString hides the seed.
func (Seed) GoString() string { return "(seed)" }

// MarshalText refuses: a seed leaves only inside the text of its invite.
func (Seed) MarshalText() ([]byte, error) {
	return nil, errors.New("a seed is never written by itself")
}

// An Invite is what one invite text says.
type Invite struct {
	Addr    string // of the hub, host:port
	HostKey string // fingerprint of the hub's host key, as ssh prints it: SHA256:...
	Person  string // who is invited
	Seed    Seed
}

// New is an invite with a fresh seed. Addr, hostKey and person must have
// their forms, or the error is ErrMalformed.
func New(addr, hostKey, person string) (Invite, error) {
	i := Invite{Addr: addr, HostKey: hostKey, Person: person}
	rand.Read(i.Seed[:]) // never fails: crypto/rand ends the process instead
	return i, i.check()
}

// body is the JSON in an invite text.
type body struct {
	Addr    string `json:"addr"`
	HostKey string `json:"host"`
	Seed    []byte `json:"seed"`
	Person  string `json:"person"`
}

// Text is the line to hand over. It is as secret as a password until it has
// been used or has expired.
func (i Invite) Text() string {
	b, err := json.Marshal(body{i.Addr, i.HostKey, i.Seed[:], i.Person})
	if err != nil {
		panic("invite: three strings and some bytes do not encode: " + err.Error())
	}
	return Prefix + base64.RawURLEncoding.EncodeToString(b)
}

// Parse reads an invite text; white space around it is ignored. The error is
// always ErrMalformed.
func Parse(text string) (Invite, error) {
	text = strings.TrimSpace(text)
	coded, ok := strings.CutPrefix(text, Prefix)
	if !ok || len(text) > maxText {
		return Invite{}, ErrMalformed
	}
	raw, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		return Invite{}, ErrMalformed
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil || len(b.Seed) != len(Seed{}) {
		return Invite{}, ErrMalformed
	}
	i := Invite{Addr: b.Addr, HostKey: b.HostKey, Person: b.Person, Seed: Seed(b.Seed)}
	return i, i.check()
}

var (
	fingerprintForm = lazyregexp.New(`^SHA256:[A-Za-z0-9+/]{43}$`)
	personForm      = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,38}$`)
)

// ValidPerson says whether name can name a member of a hub: lower-case
// letters, digits and dashes, at most 39 of them, no dash first.
func ValidPerson(name string) bool { return personForm().MatchString(name) }

func (i Invite) check() error {
	host, port, err := net.SplitHostPort(i.Addr)
	if err != nil || host == "" || port == "" || strings.ContainsAny(i.Addr, " \t\r\n") {
		return ErrMalformed
	}
	if !fingerprintForm().MatchString(i.HostKey) || !ValidPerson(i.Person) {
		return ErrMalformed
	}
	return nil
}

// Key is the key that the seed makes. The hub knows its public half.
func (i Invite) Key() (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, i.Seed[:], nil, keyInfo, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("derive the key of an invite: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
