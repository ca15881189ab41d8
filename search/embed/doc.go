// Package embed gives texts places, so that those that mean something similar
// lie near each other.
//
// An Embedder makes a Vector of a text. Words looks up the words of the text in
// a file of word vectors that somebody has downloaded (GloVe, word2vec or
// fastText, as text, plain or gzipped), and adds up what it finds; frequent
// words count less. That takes microseconds. A Model computes a transformer
// that somebody has downloaded (such as all-MiniLM-L6-v2, as ONNX), which takes
// tens or hundreds of milliseconds; a Source gives one only in a program that was
// built with the tag "onnx".
//
// It leaves out on purpose everything that needs a network: no text leaves the
// machine. Of a file of words it reads the beginning only, where the frequent
// ones are. It has no judgement on what a similarity is worth; that is for
// package search, nor on who may wait for a vector; that is for who asks.
//
// It promises that the same file makes the same vectors on every machine of one
// kind (between kinds, those of a Model may differ in the last place), that
// vectors of different embedders are never compared, and that no file and no
// text makes it panic or take more memory than maxWords words of maxDims
// numbers need, or the weights of a model twice and what package onnx allows.
package embed
