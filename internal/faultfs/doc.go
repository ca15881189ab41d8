// Package faultfs is a disk.FS for tests: it fails on demand, and forgets on demand what a power cut would take.
//
// It works on a real folder, so that other programs can look at the results, and keeps a model of the disk under it beside:
// which contents were synced, which names. Crash builds from the model what a machine would find after a power cut, with
// as much of the unsynced part surviving as the caller says. File systems differ in what survives, so code is right only
// if it is right for every choice.
//
// The model in three rules. Contents are safe from File.Sync or Datasync on, until they are overwritten. Names are safe
// from FS.SyncDir on the directory they are in, for a rename the one it leads to; a directory's own name counts like any
// other. What is not safe yet survives or not: names in the order in which they were changed, contents in whole, in part,
// as zeros or not at all.
//
// A proof that is run on it shows that it can fail by LieAt: with one sync left out, it must find something.
//
// It leaves out on purpose permissions, links and time stamps, and whatever is done to the folder past it, such as a
// disk.Lock. It promises that an operation that it fails has no effect, except that a failing write gets half of its bytes
// out, as on a full disk.
package faultfs
