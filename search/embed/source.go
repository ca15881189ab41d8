package embed

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

// wordsPrefix begins the setting that names a file of word vectors.
const wordsPrefix = "words:"

// A Source loads an Embedder when it is first wanted, once, in the background.
// A nil Source has none. It is safe for concurrent use.
type Source struct {
	setting string
	start   sync.Once
	loaded  chan struct{} // closed when the rest is there
	words   *Words
	err     error
}

// NewSource is the Source for a setting: "words:" and the full path of a file
// of word vectors, or nothing for none, which makes it nil. It reads nothing
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
	return s.words
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
	return s.words, nil
}

func (s *Source) want() {
	s.start.Do(func() {
		go func() {
			defer close(s.loaded)
			s.words, s.err = load(s.setting)
		}()
	})
}

func load(setting string) (*Words, error) {
	path, ok := strings.CutPrefix(setting, wordsPrefix)
	switch {
	case !ok:
		return nil, &SettingError{fmt.Sprintf("does not begin with %q", wordsPrefix)}
	case !filepath.IsAbs(path):
		return nil, &SettingError{fmt.Sprintf("has no full path after %q", wordsPrefix)}
	}
	return OpenWords(path)
}
