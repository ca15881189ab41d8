// Package gitstore reads and writes one bare git repository on disk: objects, packs and refs, in the formats of git
// (files back end, SHA-1, pack version 2). It is the only package that writes inside a repository.
//
// It stands in for the storage half of go-git wherever a crash or a second process would hurt: go-git rewrites a
// branch in place, syncs nothing and never looks again at the list of packs. Here any number of processes, and stock
// git beside them, read and write at the same time. go-git supplies the vocabulary (plumbing.Hash, plumbing.ObjectType)
// and, through Store.Storer, everything built on its storer interfaces works on a Store.
//
// It leaves out on purpose what objects mean (sync/eventlog, sync/merge), transports (sync/gitwire), work trees,
// submodules, alternates, shallow and partial clones, reflogs, SHA-256 and reftable. Repositories that need one of these
// are refused by Open with an error that says what to do.
//
// It promises:
//   - An object is readable from the moment WritePack or Publish returns, by every process, and survives a power cut.
//   - A ref is the old value or the new one, never empty, never half, at any instant and after any crash.
//   - A ref that cannot be read is an error, never "no such ref": an unreadable history is not taken for an empty one.
//   - Readers take no lock and never see an object disappear while packs are rewritten beside them.
//   - Received objects stay invisible until Publish, and are verified, bounded and hashed with collision detection.
//
// On disk an index file always appears before its pack, and both before the ref that needs them: a lone index is ignored
// by every git, a lone pack is not.
package gitstore
