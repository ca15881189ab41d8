// Package merge joins two histories of one space.
//
// The result is a function of the two heads alone: whoever joins them, on a
// machine or at the hub, in either order, gets the same commit id. Files are
// only ever added, so the join is the union of the two trees, and there is
// nothing to resolve; one path with two contents is an error and never a
// conflict marker. The package stores nothing.
package merge
