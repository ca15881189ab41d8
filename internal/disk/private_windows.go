package disk

// Private trusts the access list of the folder, which the bits of a file mode
// do not show.
func Private(FS, string) error { return nil }
