// Package versions is the life of a team's policy as signed records: each
// version names the one before it, what its file hashes to, who may sign the
// next one and how many of them must.
//
// A version begins as a Proposal, which people approve with the keys of their
// devices, and becomes a Version when it has as many approvals as the version
// before it asks for and the hub has sealed it. The approvals say that admins
// wanted it; the seal says which person each device key belonged to at that
// moment, which only the hub knows. Whoever keeps the last version it saw
// and the hub's key can follow the chain from there, whoever hands it on, and
// never goes back.
//
// It is pure: no files, no clock, no network. What a policy file means is in
// package rules; a file stands here for its hash and for the few facts that
// decide about the next version.
package versions
