// Package cputime says how much processor time a process has used so far, also
// one that this process did not start.
//
// It promises an exact figure, user and system time of all threads together,
// or ErrUnknown on a system that does not tell.
package cputime
