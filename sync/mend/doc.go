// Package mend puts the repository of one space right after something has
// damaged it: a power cut under another program, a bad disk, a file that was
// deleted by hand.
//
// It mends what it can prove. An index is made again from its pack; a damaged
// object gives way to a good copy; a branch that was lost is set to the one
// commit that continues everything known of it and whose whole history is of
// the form that cairn writes. Where more than one answer is possible it changes
// nothing and says which command would give each of them.
//
// It never makes a repository, never starts a history, and never removes the
// only copy of anything. Where lost objects can be had, such as a hub, is
// passed in.
package mend
