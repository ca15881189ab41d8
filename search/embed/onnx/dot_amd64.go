package onnx

import "golang.org/x/sys/cpu"

// hasEights says whether the processor and the system have registers for eight
// numbers. It is no constant for the tests.
var hasEights = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dotEights is dot2x4 for n numbers, a multiple of eight, from where each
// pointer shows.
//
//go:noescape
func dotEights(n int, a0, a1, b0, b1, b2, b3 *float32, out *[8]float32)

// dot2x4 is the eight products of two rows and four columns, all of one length.
func dot2x4(a0, a1, b0, b1, b2, b3 []float32) [8]float32 {
	n := len(a0) &^ 7
	if !hasEights || n == 0 {
		return plainDot2x4(a0, a1, b0, b1, b2, b3)
	}
	var out [8]float32
	_, _, _, _, _ = a1[n-1], b0[n-1], b1[n-1], b2[n-1], b3[n-1] // dotEights does not look
	dotEights(n, &a0[0], &a1[0], &b0[0], &b1[0], &b2[0], &b3[0], &out)
	if n < len(a0) {
		rest := plainDot2x4(a0[n:], a1[n:], b0[n:], b1[n:], b2[n:], b3[n:])
		for i, x := range rest {
			out[i] += x
		}
	}
	return out
}
