package analysis

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem is the common form of an English word and its inflections, as the
// Porter2 stemmer makes it. It takes a folded word; anything but Latin letters
// alone, and anything of three letters or fewer, is its own stem.
func Stem(word string) string {
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
