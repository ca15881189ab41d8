// Package chronicle writes what a hub decided as events into a space that its
// admins read like any other: it follows the audit log, which stays the source,
// and turns each record into an event of the kind audit, signed with the host
// key.
//
// What it writes follows from the log alone, also the ids. So after a crash it
// writes again what it is not sure of, and nothing is there twice. It never
// stands in the way of a decision: while it cannot write, records wait in the
// log.
//
// Of one person and one rule it writes a limited number of events an hour, and
// one that counts the others. An event names people, devices, spaces, rules and
// ids; no address, no text.
package chronicle
