package aitools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// ledgerVersion is the newest form of the ledger that is understood.
const ledgerVersion = 1

// A ledger is what connections did on this machine. It holds nothing but what cairn itself wrote and hashes of the rest.
type ledger struct {
	Version int                    `json:"version"`
	Files   map[string]*fileRecord `json:"files"`
	// Dirs are the directories that were made for files.
	Dirs []string `json:"dirs,omitempty"`
	// Scopes lists for each tool what it was connected for: the directories of projects, and an empty string for its user.
	Scopes map[string][]string `json:"scopes,omitempty"`
}

// A fileRecord is what was done to one file.
type fileRecord struct {
	Created  bool    `json:"created,omitempty"`  // there was no file before
	Original string  `json:"original,omitempty"` // hash of what it held before the first edit
	Written  string  `json:"written"`            // hash of what it was given last
	Pieces   []piece `json:"pieces,omitempty"`   // in the order in which they were inserted
}

// A piece is the text that was inserted for one entry.
type piece struct {
	Entry string `json:"entry"`
	Text  string `json:"text"`
	At    int    `json:"at"`
}

// A use says that tools are connected for a scope, or disconnected from it; without a project, from all.
type use struct {
	tools   []string
	project string
	remove  bool
}

func (r *fileRecord) clone() *fileRecord {
	if r == nil {
		return nil
	}
	c := *r
	c.Pieces = slices.Clone(r.Pieces)
	return &c
}

func (r *fileRecord) piece(entry string) (piece, bool) {
	if r == nil {
		return piece{}, false
	}
	i := slices.IndexFunc(r.Pieces, func(p piece) bool { return p.Entry == entry })
	if i < 0 {
		return piece{}, false
	}
	return r.Pieces[i], true
}

func (r *fileRecord) drop(entry string) {
	r.Pieces = slices.DeleteFunc(r.Pieces, func(p piece) bool { return p.Entry == entry })
}

// note takes notice of a use and reports whether it is news.
func (l *ledger) note(u use) bool {
	news := false
	for _, tool := range u.tools {
		scopes := slices.Clone(l.Scopes[tool])
		switch {
		case u.remove:
			scopes = slices.DeleteFunc(scopes, func(s string) bool { return u.project == "" || s == u.project })
		case !slices.Contains(scopes, u.project):
			scopes = append(scopes, u.project)
		}
		if len(scopes) == len(l.Scopes[tool]) {
			continue
		}
		news = true
		if l.Scopes == nil {
			l.Scopes = map[string][]string{}
		}
		if l.Scopes[tool] = scopes; len(scopes) == 0 {
			delete(l.Scopes, tool)
		}
	}
	return news
}

func (e Env) connectDir() string     { return filepath.Join(e.CairnHome, "connect") }
func (e Env) ledgerFile() string     { return filepath.Join(e.connectDir(), "ledger.json") }
func (e Env) backup(h string) string { return filepath.Join(e.connectDir(), "backup", h) }

// readLedger returns an empty ledger if there is none. A ledger that is not understood is an error: going on without it
// would forget what it says.
func readLedger(env Env) (*ledger, error) {
	l := &ledger{Version: ledgerVersion, Files: map[string]*fileRecord{}}
	text, err := disk.ReadFile(env.fs(), env.ledgerFile())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of connections: %w", err)
	}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("read the ledger of connections %s; rename it to go on without it: %w", env.ledgerFile(), err)
	}
	if l.Version > ledgerVersion {
		return nil, fmt.Errorf("the ledger of connections %s was written by a newer cairn; upgrade this one", env.ledgerFile())
	}
	return l, nil
}

func (l *ledger) save(env Env) error {
	return atomicfile.WriteJSON(env.fs(), env.ledgerFile(), l, " ", 0o600)
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
