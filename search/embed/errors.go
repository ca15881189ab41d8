package embed

import "fmt"

// A SettingError reports a setting that names no embedder.
type SettingError struct{ Reason string }

func (e *SettingError) Error() string { return "the setting embedder " + e.Reason }

// A FileError reports a file that cannot be read, or is not one of word vectors
// or of a model that can be run. Nothing of it is used. It holds nothing of what the file says.
type FileError struct {
	Path   string
	Line   int // counting from 1; 0 for the file as a whole
	Reason string
	Err    error // of the file system, or of who reads models; nil if the file itself is wrong
}

func (e *FileError) Unwrap() error { return e.Err }

func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Reason, e.Err)
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s, line %d: %s", e.Path, e.Line, e.Reason)
}
