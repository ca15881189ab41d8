// Package gittree works on git trees as the bytes git stores: it finds, inserts, compares and joins paths without
// building an object for every file.
//
// A log of a hundred thousand notes changes one file at a time. So every function here reads only the directories it
// has to, skips what two trees have in common without looking into it, and makes new bytes by copying the old ones
// around the change. Trees are values: nothing is written; new trees are handed back as objects to store.
//
// It leaves out on purpose commits (sync/history), storage (sync/gitstore), removal and replacement of files (a log
// only grows) and every kind of entry but plain files and directories. A tree that holds something else, or a name that
// some file system would take for another, is refused with a *MalformedError; only ParseLenient reads such trees.
//
// It promises that no input makes it panic or loop for ever: nesting is limited to MaxDepth, an empty directory is
// refused, and each other directory leads to a call of the caller's function. The zero id stands for the tree without
// entries wherever a tree is asked for. All functions are safe for concurrent use if the Reader is.
package gittree
