package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"cairn/internal/disk"
)

// check refuses a repository that this package could not write without harm.
func (s *Store) check() error {
	if err := s.checkLayout(); err != nil {
		return err
	}
	if err := s.checkConfig(); err != nil {
		return err
	}
	if err := s.checkShallow(); err != nil {
		return err
	}
	_, err := s.Head()
	return err
}

// checkLayout looks for what makes a folder a repository. Only "does not exist" means that it is none.
func (s *Store) checkLayout() error {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		_, err := s.fs.Stat(s.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			return s.missing(name)
		}
		if err != nil {
			return err
		}
	}
	return s.checkForeign()
}

const alternatesFile = "objects/info/alternates"

// checkForeign looks for what this package does not read along.
func (s *Store) checkForeign() error {
	for name, what := range map[string]string{
		"commondir":    "is a linked work tree",
		alternatesFile: "borrows objects from another repository (objects/info/alternates)",
	} {
		found, err := s.exists(name)
		if err != nil {
			return err
		}
		if found && !(s.borrows && name == alternatesFile) {
			return s.foreign(what)
		}
	}
	return nil
}

// missing says what a folder is that lacks a part of a repository.
func (s *Store) missing(name string) error {
	tree, err := s.exists(".git")
	if err != nil {
		return err
	}
	if tree {
		return s.foreign("has a work tree")
	}
	return fmt.Errorf("%w: it has no %s", ErrNotRepository, name)
}

func (s *Store) exists(name string) (bool, error) {
	_, err := s.fs.Stat(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *Store) foreign(what string) error { return &ForeignFormatError{Dir: s.dir, What: what} }

func (s *Store) checkShallow() error {
	data, err := disk.ReadFile(s.fs, s.path("shallow"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: complete it with git fetch --unshallow", ErrShallow)
}

func (s *Store) checkConfig() error {
	data, err := disk.ReadFile(s.fs, s.path("config"))
	if err != nil {
		return ignoreNotExist(err)
	}
	c, err := parseConfig(data)
	if err != nil {
		return err
	}
	return s.checkParsed(c)
}

func (s *Store) checkParsed(c *config.Config) error {
	if err := s.checkCore(c); err != nil {
		return err
	}
	if c.HasSection("extensions") {
		for _, o := range c.Section("extensions").Options {
			if err := s.checkExtension(strings.ToLower(o.Key), o.Value); err != nil {
				return err
			}
		}
	}
	return checkRemotes(c)
}

func parseConfig(data []byte) (*config.Config, error) {
	c := config.New()
	if err := config.NewDecoder(bytes.NewReader(data)).Decode(c); err != nil {
		return nil, fmt.Errorf("read the repository's config: %w", err)
	}
	return c, nil
}

func (s *Store) checkCore(c *config.Config) error {
	core := c.Section("core")
	if v := core.Option("repositoryformatversion"); v != "" && v != "0" && v != "1" {
		return s.foreign("has format version " + v)
	}
	if isFalse(core.Option("bare")) || core.Option("worktree") != "" {
		return s.foreign("has a work tree")
	}
	return nil
}

// checkExtension goes by the list in git's Documentation/technical/repository-version.txt. Git ignores some extensions
// while the format version is 0; a repository that carries them is not plain in any case.
func (s *Store) checkExtension(key, value string) error {
	switch key {
	case "noop", "preciousobjects":
		return nil
	case "partialclone":
		return fmt.Errorf("%w of %q: make a full clone", ErrPartialClone, value)
	case "objectformat":
		if value == "sha1" {
			return nil
		}
	case "refstorage":
		if value == "files" {
			return nil
		}
	}
	return s.foreign(fmt.Sprintf("uses the extension %s = %s", key, value))
}

func checkRemotes(c *config.Config) error {
	if !c.HasSection("remote") {
		return nil
	}
	for _, remote := range c.Section("remote").Subsections {
		promisor := remote.Option("promisor")
		if promisor != "" && !isFalse(promisor) || remote.Option("partialclonefilter") != "" {
			return fmt.Errorf("%w of %q: make a full clone", ErrPartialClone, remote.Name)
		}
	}
	return nil
}

// isFalse knows git's spellings. An option that is absent is not false.
func isFalse(v string) bool {
	switch strings.ToLower(v) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}
