// Package policy is the gate: it decides whether an event, or an object of a
// push, may enter a history. The agent asks it before anything reaches git,
// and the hub asks it again about every object, with the same code.
//
// It looks at every string of an event on its own, with the name the string
// stands under, and at the bytes that are going to be stored; at the
// classification against the space; at form and size. A refusal lists every
// finding by rule and field and never holds a byte of the text.
//
// It is pure: no files, no network, and no clock but that by which a team's
// exceptions end. What a secret looks like is in
// package secrets, which class fits which space in package scope, a team's own
// rules in package rules; these it puts beside the built-in ones.
package policy
