package briefing

import (
	"errors"
	"fmt"
	"io/fs"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/paths"
)

// Keep replaces the digest that is kept in the home, which must exist. Only
// its user can read it.
func Keep(fsys disk.FS, home paths.Home, digest string) error {
	if err := atomicfile.Write(fsys, home.Digest(), []byte(digest), 0o600); err != nil {
		return fmt.Errorf("keep the digest: %w", err)
	}
	return nil
}

// Kept is the digest as it was last kept, empty if there is none. It may be
// older than the memory.
func Kept(fsys disk.FS, home paths.Home) (string, error) {
	digest, err := disk.ReadFile(fsys, home.Digest())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(digest), err
}
