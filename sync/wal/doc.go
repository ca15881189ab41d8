// Package wal is the file format of a write-ahead log: a file of fixed size in which records become durable by one write
// and one wait for the disk.
//
// The file is filled with zeros when it is made, so that appending never changes its length or its place on the disk. It
// begins with two header slots. Begin writes the slot that is not in force, with the next generation and a mark, a few
// bytes that mean something to the caller; from then on the file is empty. A record is its length, a checksum and its
// payload. The checksum covers the generation and the checksum of the record before, so what is left of an older
// generation, a record that was torn by a power cut, and zeros are no records, and a record counts only behind the one it
// was written behind.
//
// Several processes may use one file if they hold a lock of their own in turn: Refresh finds out what the others did. The
// package knows nothing of what records mean, when they are no longer needed, or of a second file that takes over meanwhile
// (sync/eventlog).
//
// It promises: a record whose Append has waited for the disk is read back by Next after any crash, until Begin or Retract;
// and whatever is in the file, reading it ends and does not panic.
package wal
