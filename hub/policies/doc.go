// Package policies keeps the versions of a hub's policy in a folder of plain
// files:
//
//	N.json            version N, sealed; never changed once it is there
//	files/HASH.yaml   a policy file, under the hash of its bytes
//	proposal.json     the version that waits for approvals, if there is one
//	prints.key        the team's key for fingerprints of what a file excuses
//
// A version is in force from the moment its file is there. Any number of
// processes may have the folder open: one serves, others administer. What is
// missing or does not follow is never overlooked: then there is no answer at
// all, and whoever needs one takes nothing.
//
// It does not know who may sign: that a key is a person's, and the person an
// admin of the hub, its caller has found out. What a file means it is told.
package policies
