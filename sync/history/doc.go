// Package history knows the commits of a repository and their order: which contains which, which are new to somebody,
// where two histories part, and which objects a pack for somebody must hold.
//
// A Graph keeps only ids, trees and parents in memory, about a hundred bytes a commit, and learns only what it does not
// know. It goes by parents alone. Dates say nothing in a log: a note imported today carries the time of its first
// writing, and its commit does too.
//
// It leaves out on purpose the meaning of a commit (internal/commitform makes and checks its bytes), the contents of
// trees (sync/gittree) and storage (sync/gitstore); commits are reached through a Reader. A graph is never shortened:
// after a purge make a new one.
//
// It promises that a Graph is safe for concurrent use, that no history is too deep for it (nothing is recursive), that
// it is closed (it knows all ancestors of what it knows), and that a failed Add changes no answer about what was known.
package history
