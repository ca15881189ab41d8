package history

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// A Reader finds objects by id; a gitstore.Reader is one.
type Reader interface {
	Object(plumbing.Hash) (gitstore.Object, error)
}

// A Commit is what the order of histories needs to know of a commit.
type Commit struct {
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	Seconds int64  // when it was committed, since 1970; 0 if that cannot be read
	Raw     []byte // all of it, as stored
}

// ReadCommit reads a commit. Errors: *MalformedError (also if the object is no commit), or the Reader's.
func ReadCommit(r Reader, h plumbing.Hash) (Commit, error) {
	o, err := r.Object(h)
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", h, err)
	}
	if o.Type != plumbing.CommitObject {
		return Commit{}, fmt.Errorf("read commit %s: %w", h, &MalformedError{"it is a " + o.Type.String()})
	}
	c, err := ParseCommit(o.Data)
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", h, err)
	}
	return c, nil
}

// ParseCommit takes tree, parents and time out of a commit's bytes and keeps raw. It is tolerant: whatever follows the
// parents may have any form, as in the commits of old and foreign tools. The error is a *MalformedError.
func ParseCommit(raw []byte) (Commit, error) {
	tree, rest, ok := cutID(raw, "tree ")
	if !ok {
		return Commit{}, &MalformedError{"it does not begin with a tree"}
	}
	c := Commit{Tree: tree, Raw: raw}
	for bytes.HasPrefix(rest, []byte("parent ")) {
		var parent plumbing.Hash
		if parent, rest, ok = cutID(rest, "parent "); !ok {
			return Commit{}, &MalformedError{"a parent is not an object id"}
		}
		c.Parents = append(c.Parents, parent)
	}
	c.Seconds = committed(rest)
	return c, nil
}

// cutID cuts a line of the form "<key><id>\n" off raw.
func cutID(raw []byte, key string) (id plumbing.Hash, rest []byte, ok bool) {
	size := len(key) + hex.EncodedLen(len(id))
	if len(raw) <= size || !bytes.HasPrefix(raw, []byte(key)) || raw[size] != '\n' {
		return id, raw, false
	}
	_, err := hex.Decode(id[:], raw[len(key):size])
	return id, raw[size+1:], err == nil && !id.IsZero()
}

// committed returns the time in the header line "committer Name <address> SECONDS ZONE", or 0.
func committed(header []byte) int64 {
	for len(header) > 0 && header[0] != '\n' {
		var line []byte
		line, header, _ = bytes.Cut(header, []byte{'\n'})
		if !bytes.HasPrefix(line, []byte("committer ")) {
			continue
		}
		fields := bytes.Fields(line[bytes.LastIndexByte(line, '>')+1:])
		if len(fields) == 0 {
			return 0
		}
		seconds, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return 0 // tolerant, and the smallest time loses against every other
		}
		return seconds
	}
	return 0
}
