// Package searchtest is one suite of what anyone may expect of a search, to be
// run over every way to come by one: a fresh index, one that was filled in
// single steps, reopened, compacted or rebuilt, a reader.
//
// It looks from outside, by questions and answers; what only an index on disk
// can show, such as crashes, is tested beside it. It leaves out on purpose how
// well notes rank, which the golden set measures.
package searchtest
