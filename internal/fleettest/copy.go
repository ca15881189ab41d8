package fleettest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A Backup is a copy of a machine's home, key and all.
type Backup struct{ dir string }

// Backup copies the machine's home while its agent is stopped for a moment.
func (m *Machine) Backup() Backup {
	m.t.Helper()
	running := m.Agent != nil
	m.Stop()
	b := Backup{m.t.TempDir()}
	m.f.copyTree(b.dir, string(m.Home))
	if running {
		m.Start()
	}
	return b
}

// Restore gives the machine the home it had, and starts its agent.
func (m *Machine) Restore(b Backup) {
	m.t.Helper()
	m.Stop()
	if err := os.RemoveAll(string(m.Home)); err != nil {
		m.t.Fatal(err)
	}
	m.f.copyTree(string(m.Home), b.dir)
	m.Start()
}

// MachineFrom is another machine that begins with somebody's copied home.
func (f *Fleet) MachineFrom(b Backup, name string) *Machine {
	f.t.Helper()
	m := f.machine(name)
	f.copyTree(string(m.Home), b.dir)
	m.Start()
	f.t.Cleanup(m.Stop)
	return m
}

// copyTree copies files and folders as they are, and nothing else.
func (f *Fleet) copyTree(to, from string) {
	f.t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm())
		case !info.Mode().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
	if err != nil {
		f.t.Fatal(err)
	}
}
