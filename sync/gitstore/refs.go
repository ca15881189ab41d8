package gitstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// maxSymbolic is how many symbolic refs may lead from one to the next, as in git.
const maxSymbolic = 5

// A Head is what HEAD says.
type Head struct {
	Ref    string        // the branch HEAD points to, "refs/heads/..."
	Commit plumbing.Hash // the branch's commit; zero if the branch is not born yet, that is, nowhere to be found
}

// A refValue is the contents of one ref: an object id, or the name of another ref.
type refValue struct {
	hash   plumbing.Hash
	target string
}

// Head reads HEAD and the branch it points to from the disk. It fails with ErrDetached if HEAD does not point to a branch,
// and with a *GarbledRefError if HEAD or the branch's file exist and hold no ref.
func (s *Store) Head() (Head, error) {
	if err := s.alive(); err != nil {
		return Head{}, err
	}
	v, err := s.readLoose("HEAD")
	if err != nil {
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	}
	if !strings.HasPrefix(v.target, "refs/heads/") {
		return Head{}, fmt.Errorf("%w in %s: nothing is saved there until git symbolic-ref HEAD %s puts it back", ErrDetached, s.dir, mainBranch)
	}
	h := Head{Ref: v.target}
	h.Commit, err = s.Ref(h.Ref)
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return Head{}, err
	}
	return h, nil
}

// Ref returns the id that the ref with the given full name leads to. If there is no such ref the error is
// plumbing.ErrReferenceNotFound; if there is one that cannot be read, a *GarbledRefError or the file system's error.
func (s *Store) Ref(name string) (plumbing.Hash, error) {
	if err := s.alive(); err != nil {
		return plumbing.Hash{}, err
	}
	at := name
	for range maxSymbolic {
		v, err := s.readRef(at)
		if err != nil {
			return plumbing.Hash{}, fmt.Errorf("read ref %s: %w", name, err)
		}
		if v.target == "" {
			return v.hash, nil
		}
		at = v.target
	}
	return plumbing.Hash{}, fmt.Errorf("read ref %s: symbolic refs lead in circles", name)
}

// Refs returns all refs and the ids they lead to. HEAD is not one of them, nor are symbolic refs that lead nowhere.
func (s *Store) Refs() (map[string]plumbing.Hash, error) {
	values, err := s.refValues()
	if err != nil {
		return nil, err
	}
	refs := make(map[string]plumbing.Hash, len(values))
	for name, v := range values {
		for range maxSymbolic {
			if v.target == "" {
				break
			}
			v = values[v.target]
		}
		if v.target == "" && !v.hash.IsZero() {
			refs[name] = v.hash
		}
	}
	return refs, nil
}

// refValues returns all refs under refs/ as they stand. Loose ones are read before packed ones, lest a ref that is being
// packed at this moment be in neither place.
func (s *Store) refValues() (map[string]refValue, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	loose := map[string]refValue{}
	if err := s.collectLoose("refs", loose); err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	packed, err := s.readPackedRefs()
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	for _, r := range packed {
		if _, ok := loose[r.name]; !ok && checkRefName(r.name) == nil {
			loose[r.name] = refValue{hash: r.hash}
		}
	}
	return loose, nil
}

func (s *Store) collectLoose(dir string, into map[string]refValue) error {
	return s.eachLoose(dir, func(name string) error { return s.collectOne(name, into) })
}

// eachLoose calls fn with the names of the refs that have files of their own.
func (s *Store) eachLoose(dir string, fn func(name string) error) error {
	entries, err := s.fs.ReadDir(s.path(filepath.FromSlash(dir)))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			err = s.eachLoose(name, fn)
		} else if checkRefName(name) == nil {
			err = fn(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) collectOne(name string, into map[string]refValue) error {
	v, err := s.readLoose(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted or packed since the directory was read
	}
	if err == nil {
		into[name] = v
	}
	return err
}

// readRef returns a ref as it stands: its loose file, or else its line in packed-refs. A loose file counts as soon as it
// exists: an empty one must not bring an older packed value back to life.
func (s *Store) readRef(name string) (refValue, error) {
	if err := checkRefName(name); err != nil {
		return refValue{}, err
	}
	v, err := s.readLoose(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	packed, err := s.readPackedRefs()
	if err != nil {
		return refValue{}, err
	}
	for _, r := range packed {
		if r.name == name {
			return refValue{hash: r.hash}, nil
		}
	}
	return refValue{}, plumbing.ErrReferenceNotFound
}

// readLoose fails with fs.ErrNotExist if the ref has no file of its own.
func (s *Store) readLoose(name string) (refValue, error) {
	path := s.path(filepath.FromSlash(name))
	data, err := disk.ReadFile(s.fs, path)
	if err != nil {
		if notAFile(s.fs, path) {
			err = fs.ErrNotExist
		}
		return refValue{}, err
	}
	v, ok := parseRefValue(string(data))
	if !ok {
		return refValue{}, &GarbledRefError{Name: name, Path: path}
	}
	return v, nil
}

// notAFile reports whether no file can be at path: a directory of other refs is there, or a file is where one of its
// directories would be.
func notAFile(fsys disk.FS, path string) bool {
	if info, err := fsys.Stat(path); err == nil {
		return info.IsDir()
	}
	info, err := fsys.Stat(filepath.Dir(path))
	return err == nil && !info.IsDir()
}

func parseRefValue(text string) (refValue, bool) {
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimSpace(target)
		return refValue{target: target}, checkRefName(target) == nil
	}
	id, ok := parseHash(strings.TrimRight(text, " \t\r\n"))
	return refValue{hash: id}, ok && !id.IsZero()
}

func parseHash(text string) (plumbing.Hash, bool) {
	var h plumbing.Hash
	if len(text) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err == nil
}
