// Package icefile makes segments in the format of github.com/blugelabs/ice,
// version 1, as Bluge reads and merges them.
//
// Bluge's own way to make a segment of new documents, ice.New, takes most of
// the time of filling an index: it goes over every document three times and
// keeps a map of the terms of each. This one goes over them once, and a term
// that only one document holds costs nothing but its place in the dictionary.
//
// It also reads the terms that begin alike, with their lists, in one go over
// the dictionary.
//
// It leaves out on purpose what the documents of this project do not have,
// locations of terms, and what ice itself does well: merging, stored values and
// columns.
//
// It promises that a segment merges into the same bytes as one that ice.New
// makes of the same documents.
package icefile
