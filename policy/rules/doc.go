// Package rules reads a team's policy file and judges by it.
//
// The file is YAML of the narrowest sort: no anchors, tags, merges or unknown
// keys, every mistake told at once with its line, its place in words and what
// was probably meant. What it may say is closed: a space's rules are at least
// as strict as the team's, the team's at least as strict as the built-in ones,
// and nothing loosens what finds secrets but entries with a reason, a name and
// an end. docs/POLICY.md describes it for those who write one.
//
// A file holds no secret: it must pass the secret scanner itself, values are
// named by a keyed fingerprint, and no message repeats a text that could be
// one.
//
// The package is pure: no files, no network, and no clock but the one that is
// handed in. Versions, signatures and how a file gets around are not its
// matter.
package rules
