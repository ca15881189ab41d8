// Package commitform makes the exact bytes of every commit and of every fixed
// file in a space's repository.
//
// The event log writes them; the gate makes them again from the event and
// compares. Nothing is parsed: what is equal to the recomputed bytes says
// nothing that the event does not say, and whatever is not equal is refused.
//
// A space's history has four forms of commit. The root holds only cairn.json.
// An event commit adds exactly one event file. A merge joins two histories of
// the same space. A purge starts a new epoch; only a hub makes it.
package commitform
