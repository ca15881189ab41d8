// Package disk is the file system as the writers of this project see it: the few operations they use, the real
// implementation of them, and a lock between processes.
//
// It exists for two reasons. A test can put a failing or forgetful file system (internal/faultfs) where the real one
// would be. And what differs between systems is settled once: a directory that cannot be synced, a rename that Windows
// refuses while a virus scanner looks at the target, a lock call that cannot be canceled.
//
// It leaves out on purpose whatever only one caller would need. Writing a file whole or not at all is
// internal/atomicfile; where files live is internal/paths.
//
// It promises that errors are those of package os (errors.Is with fs.ErrNotExist and fs.ErrExist works on every
// system), that a successful Sync, Datasync or SyncDir has reached the device as far as the system can tell, and that a
// lock ends with the process that holds it, however that process ends.
package disk
