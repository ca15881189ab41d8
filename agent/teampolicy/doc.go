// Package teampolicy keeps the policy of the hub that a machine has joined: the
// newest version it has heard of, in one file of the home, ready to judge by.
//
// It takes a version only if every link from the one that it has holds, and
// never one with a lower number; a machine that has none follows the chain from
// its first version. What a hub shows that does not follow, or is not understood
// here, is remembered as trouble and told to whoever asks; saving and syncing go
// on under the version that is kept. Off line the last one stays in force.
package teampolicy
