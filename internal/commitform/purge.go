package commitform

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/internal/event"
)

// PurgeIdent is the author and committer of a purge.
const PurgeIdent = "cairn <purge@cairn.invalid>"

// PurgeFile is the name of the one file in the tree of a purge.
const PurgeFile = "purge.json"

// purgePrefix keeps the signature of a purge from being taken for any other.
const purgePrefix = "cairn-purge-v1\x00"

// A Purge is what is said for ever of events that were taken out of a space's
// history: which, and never a word of what they said. A hub signs it with its
// host key.
type Purge struct {
	Space  event.ID       // id of the space
	Epoch  int            // 1 for the first purge of the space, then one more each
	At     event.Time     // by the hub's clock
	By     event.DeviceID // of the admin; empty for whoever sits at the hub itself
	From   Hash           // head of main before
	To     Hash           // head of main after: the same history without the events
	Events []Purged       // in the order of their ids, at least one

	Key   ed25519.PublicKey // the hub's
	Value []byte            // its signature
}

// A Purged is one event of a Purge.
type Purged struct {
	ID   event.ID
	Blob Hash // of its file, by which what is left of it is found
}

// ErrPurge means that bytes are not a purge, or that its signature does not
// verify. Do not follow it.
var ErrPurge = errors.New("the record of a purge is malformed or its signature does not verify")

// purgeFile is the content of PurgeFile. Without the signature it is what is
// signed.
type purgeFile struct {
	Format int              `json:"format"`
	Space  event.ID         `json:"space"`
	Epoch  int              `json:"epoch"`
	At     event.Time       `json:"at"`
	By     event.DeviceID   `json:"by"`
	From   string           `json:"from"`
	To     string           `json:"to"`
	Events []purgedLine     `json:"events"`
	Sig    *event.Signature `json:"sig,omitempty"`
}

type purgedLine struct {
	ID   event.ID `json:"id"`
	Blob string   `json:"blob"`
}

// Sign returns p with its events in order and signed: sign is given what is to
// be signed.
func (p Purge) Sign(key ed25519.PublicKey, sign func([]byte) []byte) Purge {
	p.Events = slices.SortedFunc(slices.Values(p.Events), func(a, b Purged) int { return cmp.Compare(a.ID, b.ID) })
	p.Key = key
	p.Value = sign(p.signedText())
	return p
}

func (p Purge) signedText() []byte {
	p.Key = nil
	return append([]byte(purgePrefix), EncodePurge(p)...)
}

// EncodePurge is the content of the file PurgeFile for p.
func EncodePurge(p Purge) []byte {
	f := purgeFile{
		Format: Format, Space: p.Space, Epoch: p.Epoch, At: p.At, By: p.By,
		From: hex.EncodeToString(p.From[:]), To: hex.EncodeToString(p.To[:]), Events: []purgedLine{},
	}
	for _, e := range p.Events {
		f.Events = append(f.Events, purgedLine{e.ID, hex.EncodeToString(e.Blob[:])})
	}
	if p.Key != nil {
		f.Sig = &event.Signature{
			Key:   base64.StdEncoding.EncodeToString(p.Key),
			Value: base64.StdEncoding.EncodeToString(p.Value),
		}
	}
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		panic("commitform: ids, numbers and a time do not encode: " + err.Error())
	}
	return append(b, '\n')
}

// DecodePurge reads the content of the file PurgeFile and verifies the
// signature against the key in it; whose key that is, the caller compares.
// Errors: ErrPurge, *NewerFormatError.
func DecodePurge(b []byte) (Purge, error) {
	var f purgeFile
	if err := json.Unmarshal(b, &f); err != nil {
		return Purge{}, ErrPurge
	}
	if f.Format > Format {
		return Purge{}, &NewerFormatError{Format: f.Format}
	}
	p, ok := f.purge()
	if !ok || !bytes.Equal(b, EncodePurge(p)) {
		return Purge{}, ErrPurge
	}
	if len(p.Key) != ed25519.PublicKeySize || !ed25519.Verify(p.Key, p.signedText(), p.Value) {
		return Purge{}, ErrPurge
	}
	return p, nil
}

// purge checks the members by themselves; that the whole is canonical, shows
// when it is encoded again.
func (f purgeFile) purge() (Purge, bool) {
	p := Purge{Space: f.Space, Epoch: f.Epoch, At: f.At, By: f.By}
	ok := validID(f.Space) && f.Epoch > 0 && len(f.Events) > 0 && f.Sig != nil
	if f.By != "" {
		_, err := event.ParseDeviceID(string(f.By))
		ok = ok && err == nil
	}
	ok = ok && parseHash(f.From, &p.From) && parseHash(f.To, &p.To)
	for i, line := range f.Events {
		e := Purged{ID: line.ID}
		ok = ok && validID(line.ID) && parseHash(line.Blob, &e.Blob) && (i == 0 || f.Events[i-1].ID < line.ID)
		p.Events = append(p.Events, e)
	}
	if !ok {
		return Purge{}, false
	}
	var keyErr, valueErr error
	p.Key, keyErr = base64.StdEncoding.DecodeString(f.Sig.Key)
	p.Value, valueErr = base64.StdEncoding.DecodeString(f.Sig.Value)
	return p, keyErr == nil && valueErr == nil
}

func validID(id event.ID) bool {
	_, err := event.ParseID(string(id))
	return err == nil
}

func parseHash(s string, into *Hash) bool {
	b, err := hex.DecodeString(s)
	return err == nil && copy(into[:], b) == len(into) && len(b) == len(into)
}

// PurgeCommit is the commit of p. tree holds only the file PurgeFile; previous
// is the commit of the purge before, zero for the first.
func PurgeCommit(tree, previous Hash, p Purge) []byte {
	var parents []Hash
	if previous != (Hash{}) {
		parents = []Hash{previous}
	}
	return commit(tree, parents, PurgeIdent, p.At.Unix(), fmt.Sprintf("purge: %d\n", p.Epoch))
}

// Moved is the commit raw, which this package has made, with another tree and
// other parents and all else as it was: the commit of the same event in another
// history.
func Moved(raw []byte, tree Hash, parents ...Hash) []byte {
	at := bytes.Index(raw, []byte("\nauthor "))
	b := commitHead(tree, parents)
	b.Write(raw[at+1:])
	return b.Bytes()
}
