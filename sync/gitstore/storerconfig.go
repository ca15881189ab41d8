package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

func (g *goGit) Config() (*config.Config, error) {
	if err := g.s.alive(); err != nil {
		return nil, err
	}
	data, err := disk.ReadFile(g.s.fs, g.s.path("config"))
	if errors.Is(err, fs.ErrNotExist) {
		return config.NewConfig(), nil
	}
	if err != nil {
		return nil, err
	}
	return config.ReadConfig(bytes.NewReader(data))
}

// SetConfig replaces the config file in one piece. One with which Open would refuse the repository is refused.
func (g *goGit) SetConfig(c *config.Config) error {
	if err := g.s.alive(); err != nil {
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	data, err := c.Marshal()
	if err != nil {
		return err
	}
	parsed, err := parseConfig(data)
	if err != nil {
		return err
	}
	if err := g.s.checkParsed(parsed); err != nil {
		return fmt.Errorf("set config: %w", err)
	}
	if err := g.s.replaceFile("config", data); err != nil {
		return fmt.Errorf("set config: %w", err)
	}
	return nil
}

// Shallow returns nothing: a shallow repository is not opened.
func (g *goGit) Shallow() ([]plumbing.Hash, error) { return nil, g.s.alive() }

// SetShallow takes an empty list only.
func (g *goGit) SetShallow(commits []plumbing.Hash) error {
	if len(commits) > 0 {
		return fmt.Errorf("mark %d commits as shallow: %w", len(commits), ErrShallow)
	}
	return g.s.alive()
}
