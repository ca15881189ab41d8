// Package secrets finds credentials in text before they become history.
//
// It answers one question, "is there a secret in this text, and where", for
// whoever decides what follows. It never says what the secret is: no finding,
// error or log holds a byte of it.
//
// A text is read in several views: as it is; folded to how it looks; with its
// escapes taken off; with its lines joined; with base 64, hexadecimal and
// compressed runs decoded. In each, one pass over all literals that secrets
// show by finds the places where a hand-written check looks closer: at the
// alphabet, the length, what stands beside, the issuer's checksum, whether the
// value looks random. There are two sorts of rules. Self-identifying ones know
// a secret by its own form. The others need a name beside the value, such as
// "password" or that of a provider.
//
// The work is linear in the text, and bounded: a text that unpacks to more
// than the scanner will read is reported as TooComplex, never passed. Nothing
// in a text can switch a rule off, no comment and no word inside a value; only
// the example keys that vendors print pass, by their exact value.
//
// A team's own patterns are tried like the built-in rules, and matches can be
// excused that someone has answered for; which, package rules reads from the
// team's policy file.
//
// Left out on purpose: asking providers whether a key is live, machine
// learning, and deciding what to do.
package secrets
