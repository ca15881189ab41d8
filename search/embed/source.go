package embed

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

// A prefix begins a setting and says what its path is of.
const (
	wordsPrefix = "words:" // a file of word vectors
	modelPrefix = "onnx:"  // the folder of a model
)

// A Source loads an Embedder when it is first wanted, once, in the background.
// A nil Source has none. It is safe for concurrent use.
type Source struct {
	setting string
	start   sync.Once
	loaded  chan struct{} // closed when the rest is there
	by      Embedder
	err     error
}

// NewSource is the Source for a setting: "words:" and the full path of a file
// of word vectors, "onnx:" and that of the folder of a model, or nothing for
// none, which makes it nil. It reads nothing
// yet; what is wrong with a setting is told when an embedder is wanted.
func NewSource(setting string) *Source {
	if setting == "" {
		return nil
	}
	return &Source{setting: setting, loaded: make(chan struct{})}
}

// Now is the embedder if it has been loaded, else nil: whoever asks does not
// wait for a file.
func (s *Source) Now() Embedder {
	if s == nil {
		return nil
	}
	s.want()
	select {
	case <-s.loaded:
	default:
		return nil
	}
	if s.err != nil {
		return nil
	}
	return s.by
}

// Wait is the embedder once it has been loaded. A nil Source has a nil one.
// Errors: *SettingError,
// *FileError, that of ctx.
func (s *Source) Wait(ctx context.Context) (Embedder, error) {
	if s == nil {
		return nil, nil
	}
	s.want()
	select {
	case <-s.loaded:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.by, nil
}

func (s *Source) want() {
	s.start.Do(func() {
		go func() {
			defer close(s.loaded)
			s.by, s.err = load(s.setting)
		}()
	})
}

// Slow says whether a vector is worth waiting for only where nothing else
// does: it is computed, not looked up. A nil Source is not slow.
func (s *Source) Slow() bool { return s != nil && strings.HasPrefix(s.setting, modelPrefix) }

func load(setting string) (Embedder, error) {
	kind, path, _ := strings.Cut(setting, ":")
	switch kind += ":"; {
	case kind != wordsPrefix && kind != modelPrefix:
		return nil, &SettingError{fmt.Sprintf("does not begin with %q or %q", wordsPrefix, modelPrefix)}
	case !filepath.IsAbs(path):
		return nil, &SettingError{fmt.Sprintf("has no full path after %q", kind)}
	case kind == modelPrefix:
		return openModel(path)
	}
	w, err := OpenWords(path)
	if err != nil {
		return nil, err
	}
	return w, nil
}
