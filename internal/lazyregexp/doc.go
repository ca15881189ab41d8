// Package lazyregexp compiles regular expressions when they are first used.
//
// An expression in a variable of a package is compiled whenever the program
// starts, whatever it was started for, and one with bounded repetition costs
// as much as starting the rest of the package. This program is started anew
// for each hook of each AI tool and uses none of them there.
//
// It leaves out on purpose everything that package regexp does. A mistake in
// an expression shows at its first use, so each needs a test that uses it.
package lazyregexp
