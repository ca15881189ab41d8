// Package splice puts one entry into a configuration file that belongs to somebody else, and takes it out again, by
// inserting and cutting bytes. It reads JSON (also with comments, trailing commas and the rest of JSON5), TOML, YAML and
// plain text with fences.
//
// A file is parsed to be understood and to find offsets; it is never written back from what was parsed. So comments,
// order, spacing, big numbers, line endings and a missing last newline stay as they are. Every edit is checked before it
// is handed out: the text after it must parse, and must say the same as before except for the entry.
//
// It leaves out on purpose reading and writing files, deciding what an entry says, and every edit that it cannot prove
// harmless: such a file is refused with an error, and a person edits it by hand.
//
// Functions are pure and safe for concurrent use.
package splice
