// Package devices knows who may connect to a hub: its members, the devices
// they enrolled, the invites that wait, and who may do what in which space.
//
// The rules are methods of Members, a plain value without input or output.
// Store keeps one such value in a file that several processes may change at
// once: the serving hub and an admin's command line see each other's changes
// with the next question.
//
// It leaves out on purpose how a key proves itself (hub/sshdoor) and what an
// event must look like (hub/repository). It knows public keys only; the secret
// half of an invite is handed out and forgotten.
//
// It promises that a list which cannot be read is an error and never an empty
// list, and that a revoked device stays known, so that it can be told apart
// from a stranger and never enrols again.
package devices
