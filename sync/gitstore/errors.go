package gitstore

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

var (
	// ErrClosed means that the Store was used after Close. Nothing was done. It is a mistake of the program.
	ErrClosed = errors.New("git repository is closed")

	// ErrNotRepository means that the folder holds no git repository. Nothing was changed. Check the path, or call Init.
	ErrNotRepository = errors.New("not a git repository")

	// ErrNotEmpty means that Init found something in the folder. Nothing was changed. Choose an empty or new folder.
	ErrNotEmpty = errors.New("folder is not empty")

	// ErrDetached means that HEAD has left the branches, where an append would be lost. Nothing is written.
	// "git symbolic-ref HEAD refs/heads/main" in the repository puts it right.
	ErrDetached = errors.New("HEAD is detached")

	// ErrShallow means that the repository lacks part of its history. Nothing is written. "git fetch --unshallow" in the
	// repository completes it.
	ErrShallow = errors.New("repository is shallow")

	// ErrPartialClone means that the repository may lack objects which its remote promised to send later. Nothing is
	// written. Make a full clone.
	ErrPartialClone = errors.New("repository is a partial clone")

	// ErrRefChanged means that a ref is not what the caller expected: another writer came first. Nothing was changed.
	// Read the ref and start over. The error is a *RefChangedError.
	ErrRefChanged = errors.New("ref has changed")

	// ErrHeadBranch means that the branch HEAD points to was to be deleted, which would make the history look empty.
	// Nothing was changed.
	ErrHeadBranch = errors.New("the branch that HEAD points to cannot be deleted")

	// ErrQuarantine means that a Quarantine was used out of order: received into twice, or used after Publish or Discard.
	// Nothing was done. It is a mistake of the program.
	ErrQuarantine = errors.New("quarantine is not in a state for this")

	// ErrPackGone means that a pack which was to stay is not there any more: somebody joined it with others. Nothing was
	// removed. Gather again.
	ErrPackGone = errors.New("a pack that was to stay is gone")

	// ErrRefName means that a name cannot be a ref. Nothing was changed.
	ErrRefName = errors.New("not a valid ref name")
)

// A ForeignFormatError means that the repository is of a kind that this package does not handle. Nothing is written.
// Convert the repository, for example by pushing it into one that Init made.
type ForeignFormatError struct {
	Dir  string
	What string // what is foreign, in words
}

func (e *ForeignFormatError) Error() string {
	return fmt.Sprintf("repository %s %s; push its history into a plain bare repository and use that", e.Dir, e.What)
}

// A GarbledRefError means that the file of a ref exists and holds no ref, as a power cut under another writer can leave it.
// Nothing is written: the ref is unknown, not absent. Delete the file and set the ref with "git update-ref", which does not
// touch one that is garbled, or use RestoreRef.
type GarbledRefError struct {
	Name string // of the ref, or "packed-refs"
	Path string
	Line int // in packed-refs, from 1
}

func (e *GarbledRefError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d of %s is garbled: it holds no ref; nothing was changed", e.Line, e.Path)
	}
	return fmt.Sprintf("ref %s is garbled: %s holds no object id; nothing was changed", e.Name, e.Path)
}

// A RefChangedError is the ErrRefChanged of one ref.
type RefChangedError struct {
	Name string
	Want plumbing.Hash // what the caller expected; zero for "no such ref"
	Have plumbing.Hash // what is there; zero for "no such ref"
}

func (e *RefChangedError) Error() string {
	return fmt.Sprintf("ref %s has changed: it is %s, not %s", e.Name, refValueWords(e.Have), refValueWords(e.Want))
}

// Is makes errors.Is(err, ErrRefChanged) work.
func (e *RefChangedError) Is(target error) bool { return target == ErrRefChanged }

func refValueWords(h plumbing.Hash) string {
	if h.IsZero() {
		return "absent"
	}
	return h.String()
}

// A RefLockedError means that another program holds the lock file of a ref for longer than one would wait. Nothing was
// changed. Try again; if no git program is running in the repository, the file is left over and may be deleted.
type RefLockedError struct {
	Path string // the lock file
}

func (e *RefLockedError) Error() string {
	return fmt.Sprintf("%s exists: another git program is writing, or one that died left it behind; "+
		"nothing was changed, try again, and delete the file if no git program is running", e.Path)
}

// A CorruptError means that stored bytes are not the object they should be. Other objects are not affected. Fetch the
// object again, or restore the file from a backup; "git fsck" says how far the damage goes.
type CorruptError struct {
	Hash plumbing.Hash // the object that was asked for
	Path string        // the file that should hold it
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("object %s in %s is damaged: %v", e.Hash, e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// A LimitError means that a received pack is larger than the receiver allows. Nothing of it is kept. Send less at once, or
// raise the limit.
type LimitError struct {
	What  string // what there is too much of, in words
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("pack refused: %s, the limit is %d; nothing of it was kept", e.What, e.Limit)
}

// A BadPackError means that received bytes are no complete, correct pack. Nothing of it is kept. The sender is at fault,
// or the connection broke.
type BadPackError struct {
	Offset int64 // about where in the pack
	Err    error
}

func (e *BadPackError) Error() string {
	return fmt.Sprintf("pack refused, at byte %d: %v; nothing of it was kept", e.Offset, e.Err)
}

func (e *BadPackError) Unwrap() error { return e.Err }
