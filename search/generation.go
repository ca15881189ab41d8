package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// schema is the layout of the index: files, terms, levels, weights, stored text. It
// goes up with every change after which an old folder would give wrong
// answers.
const schema = 9

// The folder of an index holds:
//
//	lock        whoever holds it writes to the current generation
//	rebuild     whoever holds it builds the next one
//	current     the name of the current generation, replaced by rename
//	gen-N/      one generation: Bluge's files and a file that names the schema
//
// A rebuild makes a generation of its own and then points current to it, so
// that an Index which is open keeps answering from the former one.
const (
	lockName       = "lock"
	rebuildName    = "rebuild"
	currentName    = "current"
	schemaName     = "schema"
	generationName = "gen-"
)

type home struct {
	fsys disk.FS
	dir  string
}

func (h home) path(name string) string { return filepath.Join(h.dir, name) }

// current is the name of the current generation, or empty if there is none
// yet.
func (h home) current() (string, error) {
	data, err := disk.ReadFile(h.fsys, h.path(currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find the current search index: %w", err)
	}
	name := strings.TrimSpace(string(data))
	if _, ok := generationNumber(name); !ok {
		return "", &DamagedError{Dir: h.dir, Err: fmt.Errorf("file %s does not name a generation", currentName)}
	}
	return name, nil
}

func (h home) setCurrent(name string) error {
	return atomicfile.Write(h.fsys, h.path(currentName), []byte(name+"\n"), 0o600)
}

// mostAtOnce is more than can create a generation at the same time.
const mostAtOnce = 16

// create makes an empty generation with a number above all others. It is not
// current yet.
func (h home) create() (string, error) {
	names, err := h.generations()
	if err != nil {
		return "", err
	}
	next := 1
	for _, name := range names {
		n, _ := generationNumber(name)
		next = max(next, n+1)
	}
	name := generationName + strconv.Itoa(next)
	err = h.fsys.Mkdir(h.path(name), 0o700)
	for tries := 0; errors.Is(err, fs.ErrExist) && tries < mostAtOnce; tries++ { // an Open and a rebuild may create at once
		next++
		name = generationName + strconv.Itoa(next)
		err = h.fsys.Mkdir(h.path(name), 0o700)
	}
	if err != nil {
		return "", err
	}
	text := strconv.Itoa(schema) + "\n"
	return name, atomicfile.Write(h.fsys, h.path(filepath.Join(name, schemaName)), []byte(text), 0o600)
}

// checkSchema refuses a generation of another layout before Bluge sees it.
func (h home) checkSchema(name string) error {
	data, err := disk.ReadFile(h.fsys, h.path(filepath.Join(name, schemaName)))
	if errors.Is(err, fs.ErrNotExist) {
		return &DamagedError{Dir: h.dir, Err: err}
	}
	if err != nil {
		return err
	}
	have, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return &DamagedError{Dir: h.dir, Err: fmt.Errorf("file %s holds no number", schemaName)}
	}
	if have != schema {
		return &SchemaError{Have: have, Want: schema}
	}
	return nil
}

func (h home) generations() ([]string, error) {
	entries, err := h.fsys.ReadDir(h.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := generationNumber(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func generationNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, generationName)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

// sweep removes generations other than keep. The caller holds the rebuild
// lock, so none of them is being built.
func (h home) sweep(keep string) error {
	names, err := h.generations()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == keep {
			continue
		}
		if err := h.fsys.RemoveAll(h.path(name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
