package policies

import (
	"crypto/ed25519"
	"path/filepath"

	"cairn/internal/disk"
	"cairn/policy/versions"
)

// Signed is the version in force in a folder of a hub's versions, or in a copy
// of one, for whoever has only the hub's public key: the chain is followed from
// its beginning, and says itself whose it is. It also returns the team's key for
// fingerprints if that lies there. Errors: ErrNone if there is no version, and
// those of Active.
func Signed(fsys disk.FS, dir string, key ed25519.PublicKey) (*Active, []byte, error) {
	s := &Store{fs: fsys, dir: dir, anchor: versions.Anchor{Key: key}}
	last, err := s.newest()
	if err != nil {
		return nil, nil, err
	}
	if last < versions.First {
		return nil, nil, ErrNone
	}
	first, err := s.read(versions.First)
	if err != nil {
		return nil, nil, err
	}
	s.anchor.Hub = first.Hub
	active, err := s.Active()
	if err != nil {
		return nil, nil, err
	}
	prints, err := s.Prints()
	if err == nil && prints != nil {
		err = disk.Private(fsys, filepath.Join(dir, printsFile))
	}
	if err != nil {
		return nil, nil, s.corrupt(err)
	}
	return active, prints, nil
}
