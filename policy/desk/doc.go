// Package desk is what people do with a team's policy: look at it, propose a
// file, approve, go back. It asks a hub, checks what it is shown, and signs
// with the key it is given, a device's or the hub's own.
//
// It sees nothing but questions and answers: whether these go over SSH or to a
// hub in the same process is its caller's business. Nothing is signed that was
// not checked against the chain of versions before it.
package desk
