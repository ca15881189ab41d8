// Package hubstate keeps one thing that the hub of a machine has and that is
// replaced by newer ones, such as its policy: the newest that was taken, in one
// file of the home.
//
// It does not know what is kept, nor what of it is to be taken: whoever uses it
// says so. It promises that the hub is asked by one at a time; that a restart
// does not go back, since what counts is on disk first; and that what was turned
// down stands as trouble and is not asked for again until the hub says that it
// has something else. A file that cannot be read counts as none, and as trouble
// until the next exchange brings the thing again.
package hubstate
