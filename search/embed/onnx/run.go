package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// maxLive is how many bytes the values of a run may take at a time.
const maxLive = 512 << 20

// A run is one computation.
type run struct {
	ctx   context.Context
	opset int64
	node  *node // under way
	live  int   // bytes of the values that are there
	room  int   // how many there may be
}

// An op takes a step: it makes outputs of inputs, of which it changes none.
// Inputs that were left out are nil.
type op func(r *run, in []*Tensor) ([]*Tensor, error)

// make is a tensor of zeros.
func (r *run) make(kind Kind, shape []int) (*Tensor, error) {
	size, err := sizeOf(shape)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Shape: slices.Clone(shape), Kind: kind}
	bytes := 8 * size
	if kind == Float {
		bytes = 4 * size
	}
	if err := r.take(bytes); err != nil {
		return nil, err
	}
	if kind == Float {
		t.Floats = make([]float32, size)
	} else {
		t.Ints = make([]int64, size)
	}
	return t, nil
}

// take counts bytes that the run is going to hold.
func (r *run) take(bytes int) error {
	if r.live += bytes; r.live > r.room {
		return fmt.Errorf("needs more than %d bytes for what it computes", r.room)
	}
	return nil
}

// reshape is the elements of t in another shape; they count once more, for
// they may outlive t.
func (r *run) reshape(t *Tensor, shape []int) (*Tensor, error) {
	size, err := sizeOf(shape)
	if err != nil {
		return nil, err
	}
	if size != t.size() {
		return nil, fmt.Errorf("makes %v of a tensor of %v", shape, t.Shape)
	}
	return t.reshaped(shape), r.take(t.bytes())
}

// int is an attribute of the step, or otherwise if it has none of that name.
func (r *run) int(name string, otherwise int64) int64 {
	if a, ok := r.node.attrs[name]; ok {
		return a.int
	}
	return otherwise
}

func (r *run) number(name string, otherwise float32) float32 {
	if a, ok := r.node.attrs[name]; ok {
		return a.number
	}
	return otherwise
}

// ints is a list that is an attribute in some opsets and an input in others;
// nil if it is neither.
func (r *run) ints(name string, in []*Tensor, at int) ([]int64, error) {
	if a, ok := r.node.attrs[name]; ok {
		return a.ints, nil
	}
	if at >= len(in) || in[at] == nil {
		return nil, nil
	}
	if in[at].Kind != Int {
		return nil, fmt.Errorf("has %s where integers belong", in[at].Kind)
	}
	return in[at].Ints, nil
}

// The faults of inputs.
var (
	errKind  = errors.New("has an input of the wrong kind")
	errShape = errors.New("has inputs whose shapes do not go together")
)

func floats(ts ...*Tensor) error { return kinds(Float, ts) }

func integers(ts ...*Tensor) error { return kinds(Int, ts) }

func kinds(k Kind, ts []*Tensor) error {
	for _, t := range ts {
		if t == nil || t.Kind != k {
			return errKind
		}
	}
	return nil
}

func one(t *Tensor, err error) ([]*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return []*Tensor{t}, nil
}
