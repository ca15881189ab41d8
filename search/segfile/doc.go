// Package segfile makes, reads and merges segments of an index for Bluge, in the
// place of github.com/blugelabs/ice and in a format of its own.
//
// It leaves out what the documents of this project do not have or nobody asks
// for: frequencies, norms and locations of terms, and columns. Bluge finds the
// documents that a new one replaces; its own searches find nothing here.
//
// ice.New and ice.Merge take most of the time of filling an index: they go over
// every document several times, keep a map of the terms of each, and read and
// write the frequencies one by one. Here a document is gone over once, and a
// merge takes a list at a time.
//
// Stored values are in words that the whole segment has numbers for, which takes
// a third of the room that ice needs: one note is too short to be compressed. A
// list of up to some thousand documents is the gaps between them, half of the
// room of a bitmap; longer ones are bitmaps that are used where they lie.
//
// The rows take the place of ice's columns, which have to be unpacked document
// by document before the first question can be answered. A row is read where it
// lies, so that a segment is open at once, however many documents it has.
//
// The terms of a field stand in their order, each with its list behind it, in the
// place of ice's automaton. What begins alike is read in one go, lists included,
// and a term is found by halving (ADR 24).
//
// It promises that merging segments is making one of the documents that stay,
// that no segment is merged whose bytes are not those that were written, that
// what is read of a segment is what ice would read, and that rows can be read of
// whatever bytes Load takes.
package segfile
