// Package invite is the one line a person hands over so that a machine may
// join a hub: where the hub is, how to know it is that hub, and a one-time
// seed.
//
// The seed makes an ed25519 key. Whoever holds the invite logs in with it, and
// the hub, which keeps only the public half, lets that key do one thing:
// enrol a device. So a stolen member list opens nothing, and the host key in
// the invite leaves no moment of trusting an address blindly.
//
// The package makes and reads the text, and derives the key. Who may invite,
// how long an invite lives and that it works once is up to the hub.
package invite
