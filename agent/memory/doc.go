// Package memory is the way of a note into a home and out of it.
//
// In: a draft is completed and judged; then it is appended to the log of its
// space, which is git, and is durable from there on; the facts follow at once,
// and the note is acknowledged. The index follows in the background. Requests
// that come while an append is under way go together into the next one.
// Whatever goes wrong after the append can only delay when a note is found: it
// never turns a saved note into an error.
//
// Out: asking, listing, showing and exporting read the index, the facts and
// the log; nothing that is redacted shows its text, and what was superseded,
// archived or has expired shows only when asked for.
//
// The package leaves out on purpose how events travel (sync), who may call
// (agent/localapi), when to sync and when to end (agent). It promises that an
// event it acknowledged is in the log, once, and that an answer which does not
// say otherwise knows of everything acknowledged before it was asked for.
package memory
