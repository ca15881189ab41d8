// Package gate judges what is pushed, whatever server takes the push: the hub
// itself, or the hook in front of a repository that another git server keeps.
//
// That commits and trees have the one form that cairn gives them is found out
// by package sync/intake. Here stands what it asks besides: whether an event
// and the bytes of an object break the policy, whether the device that signed
// is welcome, and in which lines a sender is told. Nothing here touches a disk.
package gate
