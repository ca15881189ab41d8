// Package admin is the administration of a hub: invite, revoke, grant, make
// spaces, purge events, and see what there is.
//
// Each verb is a method with typed arguments and a typed result, used by the
// command line on the hub's machine. Run takes the same verbs as words, for an
// admin who sends them over SSH. Every result prints itself for people and
// encodes as JSON for programs.
//
// Whether a caller may use the verbs is settled before. Each change is written
// to the audit log, and running connections are checked anew after a change of
// members.
package admin
