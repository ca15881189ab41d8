// Package briefing keeps in a home what its hooks need when an AI tool starts
// a session and no agent answers: the digest as the agent last had it, and
// which sessions have been briefed already.
//
// A hook has a tenth of a second. That is too little to open a memory and
// plenty to read a small file, so the agent writes the digest down whenever
// the memory has changed.
//
// It leaves out on purpose making a digest (package memory does) and the form
// in which a tool takes it. Both can be deleted at any time: the digest comes
// back with the next agent, and a session is briefed once more.
package briefing
