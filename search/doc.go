// Package search keeps an index of notes in a folder and finds them.
//
// One Index holds the notes of all spaces of a home. It is a copy: whoever
// owns the log writes there first and then here, and rebuilds here whenever
// the two have drifted apart. Each space has a Mark that says how far the index
// has come; it changes in the same step as the notes it speaks of.
//
// A note is found by its title, its tags and its text. A note that holds all
// the words of a question comes before one that holds some of them; among
// notes that fit equally well the newest comes first. The last word of a
// question also stands for what begins with it, by half, unless many notes hold
// the word itself; a word that no note holds stands for one that is spelled
// nearly the same, or ends otherwise. No text is an error.
//
// How it works. A note becomes terms in one Bluge field. The BM25 impact of a
// word on a note is worked out when the note is added, rounded to one of
// sixteen levels, and made part of the term; so each word has up to sixteen
// lists of notes, best first, and a search reads lists from the top until
// nothing below can matter. Bluge keeps the segments, merges them and recovers
// them after a crash; its analyzers, its scoring and its queries are not used,
// and segments of new notes are made by package segfile.
//
// A note may bring a vector of package embed, which is kept in its row and goes
// with it. A question that brings one too has notes near it in meaning ranked
// higher, by at most a part of the best score, and only among those that do, or
// among those that do not, hold all its words. Vectors find nothing by
// themselves.
//
// It leaves out on purpose the text of the notes, which the log has, the making
// of vectors, and any judgement about which notes count: the caller passes that
// in as Query.Keep.
//
// It promises that after a crash at any moment the folder opens with the notes
// and the marks of one and the same step, or with an error that says to
// rebuild, and that a result does not depend on the order or the number of
// steps in which the same notes were added.
package search
