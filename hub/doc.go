// Package hub puts the parts of a hub together: the SSH door, the members, the
// repositories, the team's policy, the audit log and the administration. It
// serves until its context ends, and then stops them in order.
//
// A hub is one folder:
//
//	host_key            the hub's own ed25519 key
//	hub.json            who the hub is
//	members.json        who may connect, and what they may do
//	spaces/NAME.git     the shared spaces
//	people/PERSON/      personal.git, what the devices of one person share
//	policy/             the team's policy, version by version
//	audit/              what was decided, one file a month
//
// One process serves it; others may administer it meanwhile, and what they
// change counts at once.
//
// The hub trusts no client. Whatever a push brings is checked here by the same
// code that a machine runs before it saves a note.
package hub
