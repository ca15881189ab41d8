package gitstore

import (
	"crypto/sha1"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// An Object is one git object in full. Data is shared with caches: read it, never change it.
type Object struct {
	Type plumbing.ObjectType // commit, tree, blob or tag
	Hash plumbing.Hash       // the object's id: SHA-1 of "<type> <size>\x00" and Data
	Data []byte
}

// NewObject returns the object of type t with the given contents and computes its id. It keeps data; the caller must
// not change it afterwards.
func NewObject(t plumbing.ObjectType, data []byte) Object {
	h := sha1.New()
	h.Write(appendObjectHeader(make([]byte, 0, 32), t, int64(len(data))))
	h.Write(data)
	o := Object{Type: t, Data: data}
	h.Sum(o.Hash[:0])
	return o
}

// appendObjectHeader appends what git hashes before an object's contents, and stores before them in loose objects.
func appendObjectHeader(b []byte, t plumbing.ObjectType, size int64) []byte {
	b = append(b, t.Bytes()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	return append(b, 0)
}

// A Reader finds objects by id. Implementations are safe for concurrent use.
type Reader interface {
	// Object returns the object with id h, or an error that is plumbing.ErrObjectNotFound (errors.Is).
	Object(h plumbing.Hash) (Object, error)
	// Has reports whether the object with id h is stored. An error means that this could not be found out.
	Has(h plumbing.Hash) (bool, error)
}
