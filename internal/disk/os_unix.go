//go:build !windows

package disk

import "os"

// patiently runs op once: here an open file never stands in the way of a rename or a removal.
func patiently(op func() error) error { return op() }

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
