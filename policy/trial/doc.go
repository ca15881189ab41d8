// Package trial tries a policy on events that are there already, before it
// comes into force: what it would refuse that passes now, what would pass that
// is refused now, what it would bring to an end, and which of its lines do
// nothing.
//
// It changes nothing, and no result holds a text of an event. Events are given
// to it one by one; where they come from is its caller's business. A policy
// never changes what is in a history: whatever it would refuse stays there
// until it is redacted or purged.
package trial
