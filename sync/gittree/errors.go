package gittree

import "errors"

// ErrExists means that the path is in the tree already, as a file or as a directory, or that the path would lead
// through a file. Nothing was made. A log never replaces: treat it as a duplicate or as damage.
var ErrExists = errors.New("the path is already taken in the tree")

// ErrNotFound means that the tree has no such path.
var ErrNotFound = errors.New("the path is not in the tree")

// A ConflictError reports a path to which two trees give different contents, or which is a file in one and a
// directory in the other. There is no union: refuse the younger history and name the path.
type ConflictError struct {
	Path string
}

func (e *ConflictError) Error() string {
	return "both histories have " + e.Path + " with different contents: nothing was joined"
}

// A MalformedError reports bytes that are not a tree of plain files and directories, or a path that cannot be in one.
// Refuse the object; the stored history is untouched. The reason never holds a name out of the tree.
type MalformedError struct {
	Reason string
}

func (e *MalformedError) Error() string { return "malformed tree: " + e.Reason }
