// Package memuse says how much memory a process takes, also one that this
// process did not start, and what this process keeps on its heap at most while
// it does something.
//
// It promises what the system counts as resident, shared files included, or
// ErrUnknown on a system that does not tell.
package memuse
