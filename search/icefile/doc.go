// Package icefile makes, reads and merges segments of an index for Bluge: a
// file in the format of github.com/blugelabs/ice, version 1, and after it the
// rows of the documents.
//
// It leaves out of ice's format what the documents of this project do not have
// or nobody asks for: frequencies, norms and locations of terms, and columns. A
// fifth of an index was frequencies that are all one. ice still finds the
// documents that a new one replaces; it must not be asked how often a document
// holds a term.
//
// ice.New and ice.Merge take most of the time of filling an index: they go over
// every document several times, keep a map of the terms of each, and read and
// write the frequencies one by one. Here a document is gone over once, and a
// merge takes a list at a time.
//
// Stored values are in words that the whole segment has numbers for, which takes
// a third of the room that ice needs: one note is too short to be compressed.
//
// The rows take the place of ice's columns, which have to be unpacked document
// by document before the first question can be answered. A row is read where it
// lies, so that a segment is open at once, however many documents it has.
//
// It also reads the terms that begin alike, with their lists, in one go over
// the dictionary.
//
// It promises that merging segments is making one of the documents that stay,
// that no segment is merged whose bytes are not those that were written, that
// what it leaves of ice's format reads as ice wrote it, and that rows can be
// read of whatever bytes Load takes.
package icefile
