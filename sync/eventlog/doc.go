// Package eventlog appends events to a space's git repository and reads them
// back.
//
// Every event is a commit of its own. An append takes the repository's lock,
// asks its caller for the events, puts them into a write-ahead log and waits for
// the disk once, writes them and their commits as one pack, and moves the
// branch. Pack and branch become durable when the log is settled; a power cut
// before that costs nothing, since the same commits are made again from the
// write-ahead log when the log is opened. The lock is an operating-system lock,
// so any number of processes may append, and the branch moves by git's own
// protocol, so stock git may work beside them.
//
// The package does not judge events, does not know what is current, and never
// removes one. It promises that an event it has acknowledged is in the history
// of the branch, and that a repository it does not understand is refused and
// never taken for an empty one.
package eventlog
