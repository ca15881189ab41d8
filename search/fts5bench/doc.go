// Command fts5bench compares package search with the full-text search of
// SQLite, FTS5, on one corpus and in one run.
//
// It is a module of its own, so that the program does not get SQLite among its
// dependencies. The engines answer each question in turns, so that whatever
// disturbs the machine disturbs all of them alike, and the ratio of two rows is
// what holds elsewhere. Made-up notes do not tell which answer is the better
// one; that an engine finds nothing at all is said. With -recall it measures no
// time but how well the questions of a file are answered, by search alone.
package main
