// Package query turns what someone typed into what to look for.
//
// Plain words are looked for as words: the more of them a note holds the
// better, the last one may be unfinished, and words that say nothing are left
// out. Text in double quotes is a phrase. AND, OR and NOT in capitals and
// brackets combine; title: in front of a word says where it has to stand; a
// star behind a word asks for everything that begins with it.
//
// Filters narrow: tag: kind: harness: device: project: since: until: with a
// value, in quotes if it has spaces. All of them have to hold, also several of
// one name; NOT or a minus in front of one turns it round. An empty one is
// none.
//
// What looks like an operator but has nothing to work on is text: a lone NOT,
// a bracket in foo(bar, the colon of "error: timeout" or std::vector, a time
// that is none. Therefore no input is an error.
//
// It leaves out on purpose which notes match and how they rank; it is pure
// and knows no index.
package query
