package analysis

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem is the common form of an English word and its inflections: irregular
// ones by a list, the others as the Porter2 stemmer makes it. It takes a folded
// word; anything but Latin letters alone, and other words of three letters or
// fewer, are their own stem.
func Stem(word string) string {
	if base, ok := irregular[word]; ok {
		word = base
	}
	if len(word) <= 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// IsIrregular says that the stem of a word may begin otherwise than the word. That
// of any other word begins with the same letter.
func IsIrregular(word string) bool {
	_, ok := irregular[word]
	return ok
}
