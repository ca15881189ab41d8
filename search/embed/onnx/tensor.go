package onnx

import (
	"fmt"
	"math"
	"slices"
)

// A Kind is what the elements of a Tensor are.
type Kind int

const (
	Float Kind = iota
	Int
	Bool
)

func (k Kind) String() string { return [...]string{"numbers", "integers", "truths"}[k] }

// A Tensor is numbers in rows of rows, the last axis closest together.
type Tensor struct {
	Shape  []int
	Kind   Kind
	Floats []float32 // of Kind Float
	Ints   []int64   // of the others; a truth is 0 or 1
}

// Ints is a Tensor of integers, which it takes over.
func Ints(values []int64, shape ...int) *Tensor {
	return &Tensor{Shape: shape, Kind: Int, Ints: values}
}

// The limits of tensors.
const (
	maxRank     = 8
	maxElements = 1 << 28
)

// sizeOf is how many elements a shape has. Errors: too many axes or elements,
// or a negative length.
func sizeOf(shape []int) (int, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("has a tensor of %d axes, and %d are the most", len(shape), maxRank)
	}
	size, empty := 1, false
	for _, n := range shape {
		if n < 0 || n > math.MaxInt32 {
			return 0, fmt.Errorf("has a tensor with an axis of length %d", n)
		}
		if n == 0 {
			empty = true
			continue
		}
		if size *= n; size > maxElements {
			return 0, fmt.Errorf("has a tensor of more than %d elements", maxElements)
		}
	}
	if empty {
		return 0, nil
	}
	return size, nil
}

// size is how many elements the tensor has.
func (t *Tensor) size() int {
	if t.Kind == Float {
		return len(t.Floats)
	}
	return len(t.Ints)
}

// bytes is what it takes in memory.
func (t *Tensor) bytes() int { return 4*len(t.Floats) + 8*len(t.Ints) }

// reshaped is the same elements in another shape of the same size.
func (t *Tensor) reshaped(shape []int) *Tensor {
	return &Tensor{Shape: slices.Clone(shape), Kind: t.Kind, Floats: t.Floats, Ints: t.Ints}
}

// axis is the axis that a model names, where -1 is the last one of rank.
func axis(named int64, rank int) (int, error) {
	if named < 0 {
		named += int64(rank)
	}
	if named < 0 || named >= int64(rank) {
		return 0, fmt.Errorf("names an axis that a tensor of %d axes does not have", rank)
	}
	return int(named), nil
}

// around is how many elements lie before and after an axis.
func around(shape []int, axis int) (before, after int) {
	before, after = 1, 1
	for _, n := range shape[:axis] {
		before *= n
	}
	for _, n := range shape[axis+1:] {
		after *= n
	}
	return before, after
}

// strides is how far apart neighbors on each axis lie.
func strides(shape []int) []int {
	out := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = step
		step *= shape[i]
	}
	return out
}
