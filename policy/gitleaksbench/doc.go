// Gitleaksbench sets cairn's search for secrets beside gitleaks, as a library in
// the same process: what each finds of secrets that are made on the spot, plain,
// in places and in disguises; what each blocks of clean text; and how long each
// takes. It is a module of its own, so that gitleaks is none of cairn's
// dependencies.
package main
