// Package catchup keeps what is derived from the logs of a home level with
// them: the facts of each space and the one search index of all.
//
// Git holds the truth and is written first. What follows may be late, torn by
// a crash or gone, so each of the two knows by a mark how far it has come, and
// there are three ways from there: nothing to do if the trees are equal; the
// difference of the trees if the marked commit is still there, whatever the
// history in between looks like; and a rebuild if that commit is gone, the
// history or the schema is another one, or rows and events do not match. A
// rebuild of the index happens aside, in the background, while the former
// index answers.
//
// One process at a time writes the index and the facts; a second one reads
// them and is told ErrBehind. It takes over when the first is gone.
//
// The package leaves out on purpose what the facts mean (agent/projection),
// how the index searches (search), and when to look: the caller calls Level, or
// LevelSoon where nobody waits.
package catchup
