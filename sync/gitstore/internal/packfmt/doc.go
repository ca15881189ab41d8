// Package packfmt knows the bytes of git's pack files (version 2) and pack index files (version 2), as described in
// git's Documentation/gitformat-pack.txt.
//
// It is about bytes alone: it opens no file and keeps no state between calls. Finding the pack that holds an object,
// looking up the bases of deltas, and everything to do with crashes is the business of package gitstore.
//
// Its decoders are meant for hostile input. They neither panic nor allocate more than they have input for; a length
// that the input merely claims is checked by the caller (Header.Size, DeltaSizes) before it is believed.
package packfmt
