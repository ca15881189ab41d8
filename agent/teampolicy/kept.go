package teampolicy

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/policy/versions"
)

// kept is the file: the newest version with what it says, and the hash of the
// first one that this machine saw.
type kept struct {
	First   versions.Hash `json:"first"`
	Version []byte        `json:"version"`
	File    []byte        `json:"file"`
	Prints  []byte        `json:"prints,omitempty"` // the team's key for fingerprints

	version versions.Version
}

var errNotWhole = errors.New("it does not hold together")

// load is what the file holds; nil for no file.
func load(fsys disk.FS, path string) (*kept, error) {
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(b, &k); err != nil {
		return nil, err
	}
	if k.version, err = versions.Decode(k.Version); err != nil {
		return nil, err
	}
	if versions.HashOf(k.File) != k.version.Proposal.File {
		return nil, errNotWhole
	}
	return &k, nil
}

func (k *kept) save(fsys disk.FS, path string) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return atomicfile.Write(fsys, path, append(b, '\n'), 0o600)
}

// mark is the version's mark; that of the built-in rules for nothing kept.
func (k *kept) mark() hubwire.PolicyMark {
	if k == nil {
		return hubwire.BuiltIn
	}
	return hubwire.PolicyMark{Number: k.version.Number, Hash: k.version.Hash().String()}
}

// follows says whether the version comes right after that of the mark.
func (k *kept) follows(m hubwire.PolicyMark) bool {
	if k == nil || k.version.Number != m.Number+1 {
		return false
	}
	return k.version.Number == versions.First || k.version.Previous.String() == m.Hash
}

// last is the version, nil for none.
func (k *kept) last() *versions.Version {
	if k == nil {
		return nil
	}
	return &k.version
}

// fetch follows the hub's chain from what is kept to its end. The error is a
// *versions.ChainError if a link does not hold.
func fetch(ctx context.Context, hub Hub, have *kept) (*kept, error) {
	next := &kept{}
	if have != nil {
		next.First = have.First
	}
	last := have.last()
	for {
		a, err := hub.Since(ctx, numberOf(last))
		if err != nil {
			return nil, err
		}
		chain, err := follow(hub, last, a)
		if err != nil {
			return nil, err
		}
		last = &chain[len(chain)-1]
		if next.First.IsZero() {
			next.First = chain[0].Hash()
		}
		if len(a.File) == 0 { // there is more to come
			continue
		}
		if versions.HashOf(a.File) != last.File {
			return nil, &versions.ChainError{Number: last.Number, Reason: "the file that came with it is another one"}
		}
		next.version, next.Version, next.File, next.Prints = *last, versions.Encode(*last), a.File, a.Prints
		return next, nil
	}
}

func numberOf(last *versions.Version) int {
	if last == nil {
		return versions.First - 1
	}
	return last.Number
}

// follow reads an answer, which must lead on from last by at least one link.
func follow(hub Hub, last *versions.Version, a hubwire.PolicyAnswer) ([]versions.Version, error) {
	if hubwire.Fingerprint(a.Key) != hub.Fingerprint {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: "it comes with another key than the hub's"}
	}
	if len(a.Versions) == 0 {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: "the hub does not show what leads to it"}
	}
	return versions.Anchor{Hub: hub.ID, Key: a.Key}.Read(last, a.Versions)
}
