// Package roster is the list of a hub's devices and whose they are, as the hub
// signs it for its machines. With it a machine can tell an event of a member's
// from a stranger's also where the hub has not looked at it, such as in a plain
// repository that both write to.
//
// A list has a number that only goes up, so that an old one cannot be shown
// again. It says nothing of rights: these change often, and are the hub's to
// judge.
//
// It is pure: no files, no clock, no network.
package roster
