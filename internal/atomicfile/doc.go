// Package atomicfile writes a file whole or not at all.
//
// WriteJSON does it with a value as JSON.
//
// After a crash or a power cut at any moment the path holds either its former contents or all of the new ones; after
// Write has returned nil, the new ones.
//
// It leaves out on purpose merging with the former contents, backups, locks between writers (the last one wins, whole)
// and following symbolic links: a link is refused, since replacing it and writing through it would each surprise
// somebody. A caller that means the link's target resolves it first.
package atomicfile
