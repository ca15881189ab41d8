// Package golden reads questions with the notes that each must find, and says
// in figures how well they were found.
//
// A file is YAML or JSON: one set, or a list of sets. A set may bring the notes
// it asks about; one that does not is about whatever memory it is put to. Every
// mistake in a file has a line and, but for what is no YAML at all, a column;
// a member that nobody knows is a mistake, never ignored.
//
// It asks nothing itself, and it does not say what is good enough. YAML is read
// by a library: the only one that a package below internal needs.
package golden
