// Package scope says which classification of event may stand in which space.
//
// One git history cannot hold a single note back, so the space is the
// boundary: what may not travel must not be in a space that does. The rules
// are fixed and pure; who may read or write a space is the hub's matter.
package scope
