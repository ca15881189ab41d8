// Package modeltest makes models of sentences for tests: small ones, of known
// weights, in the form in which published ones come.
//
// It writes the bytes of the ONNX format by itself, so that what reads them is
// not judged by its own hand.
package modeltest
