// Package purge makes a space's history again without some of its events, and
// keeps the record of which these were.
//
// A purge begins a new epoch. The history goes on from before the oldest event
// that is taken out: what came after is made again with the same events, and
// commits that hold none of them in their past stay as they are. So the new
// history is a function of the old one and of what is taken out. The record is
// a commit of its own beside the history: it names the events and never says
// a word of them, it is signed by the hub that made the purge, and it follows
// the record of the purge before.
//
// The package writes objects and nothing else. Who may purge, how refs move and
// how the old objects leave the disk is decided elsewhere.
package purge
