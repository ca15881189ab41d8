package history

import "github.com/go-git/go-git/v5/plumbing"

// An UnknownError names a commit that the graph does not know. Add it first; if that fails the repository lacks it.
type UnknownError struct {
	Commit plumbing.Hash
}

func (e *UnknownError) Error() string {
	return "commit " + e.Commit.String() + " is not in the known history"
}

// A MalformedError reports bytes that are not a commit. Refuse the object. The reason holds none of the bytes.
type MalformedError struct {
	Reason string
}

func (e *MalformedError) Error() string { return "malformed commit: " + e.Reason }
