// Package event is the vocabulary every other package shares: the event, its
// ten kinds, its identifier, and the one sequence of bytes that stands for it
// on disk, on the wire and under a signature.
//
// An event never changes. Decode accepts exactly the bytes that Encode would
// make, so nothing can be said in a stored event that its fields do not hold:
// no unknown member, no duplicate, no spare white space. Whoever compares,
// scans or signs an event works on those bytes.
//
// The package does no input or output and knows no git, no search, no policy.
package event
