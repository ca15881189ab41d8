// Package courier carries events between this machine's spaces and their
// remotes, by itself: it pushes what is saved as soon as it is saved, pulls
// what the hub's watch announces, and keeps trying while a remote is out of
// reach.
//
// It decides when, never what: sync/replica moves the events, the memory
// judges and stores them. Nothing waits for a courier; an event is safe in its
// log before a courier hears of it.
package courier
