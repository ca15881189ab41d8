package purge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// A Reader finds objects by id; a gitstore.Reader is one.
type Reader interface {
	Object(plumbing.Hash) (gitstore.Object, error)
}

// A Record is one purge and the objects that say so.
type Record struct {
	commitform.Purge
	Commit, Tree, Blob plumbing.Hash
}

// Write returns the commit that records p after the record previous, which is
// zero for the first, and the objects to store for it. p is signed.
func Write(p commitform.Purge, previous plumbing.Hash) (plumbing.Hash, []gitstore.Object, error) {
	blob := gitstore.NewObject(plumbing.BlobObject, commitform.EncodePurge(p))
	tree, made, err := gittree.Insert(nothing{}, plumbing.ZeroHash, commitform.PurgeFile, blob.Hash)
	if err != nil {
		return plumbing.ZeroHash, nil, fmt.Errorf("record a purge: %w", err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.PurgeCommit(tree, commitform.Hash(previous), p))
	return commit.Hash, append(made, blob, commit), nil
}

// nothing is a Reader without objects.
type nothing struct{}

func (nothing) Object(h plumbing.Hash) (gitstore.Object, error) {
	return gitstore.Object{}, fmt.Errorf("object %s: %w", h, plumbing.ErrObjectNotFound)
}

// Records reads the records of a space that end with the commit tip, oldest
// first, and checks the form of each, that they are of one space and one hub
// and that none is left out. A zero tip has none; an empty space is that of the
// newest record. Errors: *RecordError, or the Reader's.
func Records(r Reader, space event.ID, tip plumbing.Hash) ([]Record, error) {
	var list []Record
	for at := tip; !at.IsZero(); {
		rec, previous, err := read(r, at)
		if err != nil {
			return nil, fmt.Errorf("read the record of purges: %w", err)
		}
		if space == "" {
			space = rec.Space
		}
		if rec.Space != space {
			return nil, &RecordError{at, "it is of another space"}
		}
		if len(list) > 0 && !follows(list[len(list)-1], rec) {
			return nil, &RecordError{at, "the one after it does not follow it"}
		}
		list = append(list, rec)
		at = previous
	}
	if len(list) > 0 && list[len(list)-1].Epoch != 1 {
		return nil, &RecordError{tip, "older ones are missing"}
	}
	slices.Reverse(list)
	return list, nil
}

// follows says whether next is the record after r.
func follows(next, r Record) bool {
	return next.Epoch == r.Epoch+1 && next.Key.Equal(r.Key)
}

func read(r Reader, at plumbing.Hash) (rec Record, previous plumbing.Hash, err error) {
	c, err := history.ReadCommit(r, at)
	if err != nil {
		return rec, previous, refuse(at, err)
	}
	if len(c.Parents) > 0 {
		previous = c.Parents[0]
	}
	entry, err := gittree.Lookup(r, c.Tree, commitform.PurgeFile)
	if err != nil {
		return rec, previous, refuse(at, err)
	}
	blob, err := r.Object(entry.Hash)
	if err != nil {
		return rec, previous, err
	}
	p, err := commitform.DecodePurge(blob.Data)
	if err != nil {
		return rec, previous, refuse(at, err)
	}
	commit, made, err := Write(p, previous)
	if err != nil {
		return rec, previous, err
	}
	if commit != at || !bytes.Equal(made[len(made)-1].Data, c.Raw) {
		return rec, previous, &RecordError{at, "its commit is not the one that it makes"}
	}
	return Record{Purge: p, Commit: at, Tree: c.Tree, Blob: entry.Hash}, previous, nil
}

// refuse makes an error that lies in the bytes a *RecordError, and leaves those
// of reading as they are.
func refuse(at plumbing.Hash, err error) error {
	_, badCommit := errors.AsType[*history.MalformedError](err)
	_, badTree := errors.AsType[*gittree.MalformedError](err)
	_, newer := errors.AsType[*commitform.NewerFormatError](err)
	if badCommit || badTree || newer || errors.Is(err, gittree.ErrNotFound) || errors.Is(err, commitform.ErrPurge) {
		return &RecordError{at, err.Error()}
	}
	return err
}
