package briefing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/disk"
	"cairn/internal/paths"
)

// Lasts is how long a briefing counts. A session that goes on for longer may
// have lost it when it was compacted, and is briefed again.
const Lasts = time.Hour

// First says whether a session of a tool is to be briefed: it has not been
// within the time that a briefing lasts. It counts as briefed from then on. Of
// several processes that ask about a new session at once, one is told so. With
// an error it is not known, and not noted.
func First(fsys disk.FS, home paths.Home, tool, session string, now time.Time) (bool, error) {
	if err := fsys.Mkdir(home.Told(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("note the session: %w", err)
	}
	if err := forget(fsys, home.Told(), now.Add(-Lasts)); err != nil {
		return false, fmt.Errorf("forget old sessions: %w", err)
	}
	f, err := fsys.OpenFile(note(home, tool, session), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("note the session: %w", err)
	}
	return true, f.Close()
}

// note is the file whose time says when a session was briefed. A tool may put
// anything into the name of a session.
func note(home paths.Home, tool, session string) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + session))
	return filepath.Join(home.Told(), hex.EncodeToString(sum[:16]))
}

// forget deletes the notes from before.
func forget(fsys disk.FS, dir string, before time.Time) error {
	notes, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range notes {
		info, err := n.Info()
		if err == nil && info.ModTime().Before(before) {
			err = fsys.Remove(filepath.Join(dir, n.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another hook was quicker
			return err
		}
	}
	return nil
}
