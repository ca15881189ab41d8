// Package embed gives texts places, so that those that mean something similar
// lie near each other.
//
// An Embedder makes a Vector of a text. The one that is built in, Words, looks
// up the words of the text in a file of word vectors that somebody has
// downloaded (GloVe, word2vec or fastText, as text, plain or gzipped), and adds
// up what it finds; frequent words count less.
//
// It leaves out on purpose models that have to be computed, and everything
// that needs a network: a text takes microseconds, and no text leaves the
// machine. Of a file it reads the beginning only, where the frequent words
// are. It has no judgement on what a similarity is worth; that is for package
// search.
//
// It promises that the same file makes the same vectors everywhere, that
// vectors of different embedders are never compared, and that no file and no
// text makes it panic or take more memory than maxWords words of maxDims
// numbers need.
package embed
