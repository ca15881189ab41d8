// Package icefile makes, reads and merges segments of an index for Bluge: a
// file in the format of github.com/blugelabs/ice, version 1, and after it the
// rows of the documents.
//
// Bluge's own way to make a segment of new documents, ice.New, takes most of
// the time of filling an index: it goes over every document three times and
// keeps a map of the terms of each. This one goes over them once, and a term
// that only one document holds costs nothing but its place in the dictionary.
//
// The rows take the place of ice's columns, which have to be unpacked document
// by document before the first question can be answered. A row is read where it
// lies, so that a segment is open at once, however many documents it has.
//
// It also reads the terms that begin alike, with their lists, in one go over
// the dictionary.
//
// It leaves out on purpose what the documents of this project do not have,
// locations of terms and columns of ice, and what ice itself does well: stored
// values, and merging all but the rows.
//
// It promises that a segment merges into the same bytes as one that ice.New
// makes of the same documents, followed by the rows, and that rows can be read
// of whatever bytes Load takes.
package icefile
