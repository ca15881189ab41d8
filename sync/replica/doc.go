// Package replica brings a machine's copy of a space level with another one: a
// cairn hub over one kept SSH connection, or any git repository.
//
// A pull fetches the objects that are new, has every one of them checked in a
// quarantine, and only then joins the histories. A push sends exactly what the
// other side lacks. Both are safe to repeat and to break off at any moment:
// what has been acknowledged on this machine stays in its log whatever the
// other side says. An event that a hub refuses is handed to the caller to be
// kept, the others are put on the hub's history with their bytes unchanged,
// and go through.
//
// The package tells "out of reach" (ErrOffline: keep and try again) from
// "refused" (*RefusedError: somebody must act). When to sync is not decided
// here, nor what an event may say: the caller passes that judgement in.
package replica
