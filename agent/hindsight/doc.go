// Package hindsight judges again what a machine's logs hold when the rules have
// changed, so that two machines with the same events and the same versions of
// the team's policy show the same, whatever came first.
//
// It works in the background, one space after the other, from the oldest event
// on. What it has found counts step by step, and it goes on where it was after a
// restart. It looks only at what can have changed: nothing where the new rules
// ask the same of a space, no text where only rules about other things than
// secrets differ.
//
// It does not decide (package policy does) nor hide anything itself (package
// memory does), and it changes no history.
package hindsight
