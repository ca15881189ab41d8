// Package sshdoor is the SSH door of a hub: it lets in whoever proves to hold
// a known key, takes the one command they ask for, and hands both to the hub.
//
// Who a key belongs to and what a command does is the hub's business. The door
// gives no shell, no terminal, no subsystem and no forwarding, and ignores the
// environment. It has no passwords.
//
// It promises:
//   - The key of a Session is the key whose signature ended the handshake. A key
//     that was only offered counts for nothing.
//   - A connection that does not log in costs little and ends soon: there is a
//     deadline, a cap for each address and for all, and a token bucket.
//   - A key that is no longer welcome loses its running connections at Recheck,
//     and is refused at the next command in any case.
//   - One failing command, even one that panics, ends only itself.
//   - When it stops, sessions that would never end are told first; the others get
//     some time to finish.
package sshdoor
