package onnx

import (
	"math/rand/v2"
	"testing"
)

// Whole numbers, whose sums do not depend on the order in which they are added.
func TestBothWaysToMultiplyGiveTheSame(t *testing.T) {
	t.Parallel()
	if !hasEights {
		t.Log("this processor has one way only")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 70 {
		side := make([][]float32, 6)
		for i := range side {
			for range n + 3 { // more than is to be read
				side[i] = append(side[i], float32(r.IntN(64)-32))
			}
			side[i] = side[i][:n]
		}
		want := plainDot2x4(side[0], side[1], side[2], side[3], side[4], side[5])
		if got := dot2x4(side[0], side[1], side[2], side[3], side[4], side[5]); got != want {
			t.Errorf("%d numbers: %v, want %v", n, got, want)
		}
	}
}
