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
	// Projects lists for each tool the projects that it was connected for.
	Projects map[string][]string `json:"projects,omitempty"`
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

// A projectUse says that tools were connected for a project, or disconnected from it.
type projectUse struct {
	tools  []string
	dir    string
	remove bool
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

// use takes notice of a connection for a project, or of a disconnection: from one project, or from all if none is named. It
// reports whether that is news.
func (l *ledger) use(u projectUse) bool {
	news := false
	for _, tool := range u.tools {
		dirs := slices.Clone(l.Projects[tool])
		switch {
		case u.remove:
			dirs = slices.DeleteFunc(dirs, func(dir string) bool { return u.dir == "" || dir == u.dir })
		case u.dir != "" && !slices.Contains(dirs, u.dir):
			dirs = append(dirs, u.dir)
		}
		if len(dirs) == len(l.Projects[tool]) {
			continue
		}
		news = true
		if l.Projects == nil {
			l.Projects = map[string][]string{}
		}
		if l.Projects[tool] = dirs; len(dirs) == 0 {
			delete(l.Projects, tool)
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
	text, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return fmt.Errorf("write the ledger of connections: %w", err)
	}
	return atomicfile.Write(env.fs(), env.ledgerFile(), append(text, '\n'), 0o600)
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
