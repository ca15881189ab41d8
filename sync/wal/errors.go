package wal

import (
	"errors"
	"fmt"
)

// ErrFull means that a record does not fit. Nothing was written. Make what the file holds durable elsewhere, call Begin,
// and append again; a record that does not fit into an empty file has to go another way.
var ErrFull = errors.New("write-ahead log is full")

// A DamagedError means that the file is not one that a power cut can leave: it is too short, or both headers are spoiled.
// Nothing was changed. If all else is whole, the file can be deleted.
type DamagedError struct {
	Path   string
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("write-ahead log %s is damaged: %s; nothing was changed", e.Path, e.Reason)
}

// A NewerError means that a newer version of this program wrote the file. Nothing was changed. Upgrade.
type NewerError struct {
	Path    string
	Version uint32
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("write-ahead log %s has version %d, this program knows %d: upgrade it; nothing was changed",
		e.Path, e.Version, version)
}
