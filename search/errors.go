package search

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrLocked means that another process, or another Index of this one, writes
// to the folder. Ask its owner, or search with OpenReader.
var ErrLocked = errors.New("the search index is in use by another process")

// ErrClosed means that the Index was closed before the call.
var ErrClosed = errors.New("the search index is closed")

// ErrReplaced means that a rebuild has put another index in the place of this
// one, which still answers. Nothing was written; close it and open again.
var ErrReplaced = errors.New("the search index was rebuilt; open it again")

// errNoIndex means that there is nothing to open and nothing may be created.
var errNoIndex = fmt.Errorf("none has been made yet: %w", fs.ErrNotExist)

// A SchemaError means that the folder was written by a cairn with another
// layout of the index. Rebuild it from the log; nobody needs to be bothered.
type SchemaError struct {
	Have, Want int
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the search index has layout %d, this program wants %d: it has to be rebuilt", e.Have, e.Want)
}

// A DamagedError means that the files of the index contradict each other.
// Rebuild it from the log, which is not affected.
type DamagedError struct {
	Dir string
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the search index in %s is damaged and has to be rebuilt: %v", e.Dir, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
