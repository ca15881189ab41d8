// Package analysis turns text into the forms under which words are found.
//
// It is one chain for notes and questions alike. Text is cut into spans at
// spaces and punctuation; a span is a run of a script that is written without
// spaces, or a name such as file-lock, useEffect or internal/store/repo.go.
// A name stands for its words, for itself as written and for its words run
// together. A run stands for its characters and for each pair of neighbors.
// Everything is folded: case, width, ligatures, diacritics and invisible
// characters make no difference.
//
// It leaves out on purpose what depends on an index or on a query language:
// ranking, prefixes, operators. It has no dictionary of any language beyond
// the English stemmer, two short lists of function words, and groups of words
// that people who write software use for each other.
//
// It promises that no input panics or takes more than linear time, that forms
// hold neither spaces nor control characters, and that every byte range it
// returns lies on rune boundaries of a valid text.
package analysis
