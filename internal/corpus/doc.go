// Package corpus makes notes as developers write them, and questions about
// them, to measure with: English prose with code identifiers in it and one
// note in twelve in Chinese; words as rare and as common as in real text, and
// topics, so that words which belong together meet.
//
// The same call gives the same notes on every machine, and more notes begin
// with the fewer ones.
//
// It is no measure of recall: a made-up note does not mean anything. For that
// there are sets of real questions in the tests of package search.
package corpus
