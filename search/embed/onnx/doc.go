// Package onnx reads models in the Open Neural Network Exchange format and runs
// them, in plain Go.
//
// It knows the operators that models of sentences are made of (BERT and its
// kin, as exported for opset 7 to 23): no more. It computes in 32-bit floats and
// 64-bit integers, whatever width a model names, on one processor core, and
// eight floats at a time where the processor can (AVX2).
//
// It leaves out on purpose training, control flow, sequences, quantized
// weights and weights in further files. A model that needs any of it is refused
// when it is opened, with the name of what is missing.
//
// It promises that no file and no input makes it panic, that it takes memory
// for what a file holds and never for what it declares, that a run takes no
// more than maxLive bytes besides the weights, and that a run ends soon
// after its context.
package onnx
