//go:build !amd64

package onnx

func dot2x4(a0, a1, b0, b1, b2, b3 []float32) [8]float32 { return plainDot2x4(a0, a1, b0, b1, b2, b3) }
