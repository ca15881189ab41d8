// Package intake looks at everything that arrives from another machine, before
// any of it becomes visible.
//
// Each commit is made again from what it claims to be, an event commit from
// its event, a merge from its two parents, and compared byte for byte. So
// nothing can be said in a commit, a tree or a name that cairn itself would
// not have written, only one file can be added at a time, nothing can be
// changed or removed, and an object that no commit accounts for is found.
// What an event may say is not judged here: the caller passes that judgement
// in, together with the one on raw bytes.
//
// The same check runs at the hub on every push and on every machine at every
// fetch. All findings are reported, not only the first. A finding never holds
// a byte of what was found; it holds a path only in the one form that paths
// have.
package intake
