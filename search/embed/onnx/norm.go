package onnx

import (
	"errors"
	"math"
	"slices"
)

// softmax works along the last axis, as all models of texts do; along another
// one its meaning depends on the opset.
func softmax(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[0]); err != nil {
		return nil, err
	}
	otherwise := int64(-1)
	if r.opset < 13 {
		otherwise = 1
	}
	rank := len(in[0].Shape)
	a, err := axis(r.int("axis", otherwise), rank)
	if err != nil {
		return nil, err
	}
	if a != rank-1 {
		return nil, errors.New("goes along another axis than the last, which is not known")
	}
	out, err := r.make(Float, in[0].Shape)
	if err != nil {
		return nil, err
	}
	length := in[0].Shape[a]
	for at := 0; at < len(out.Floats); at += length {
		soften(out.Floats[at:][:length], in[0].Floats[at:][:length])
	}
	return []*Tensor{out}, nil
}

func soften(out, in []float32) {
	most := slices.Max(in)
	var sum float64
	for i, x := range in {
		e := math.Exp(float64(x - most))
		out[i] = float32(e)
		sum += e
	}
	for i := range out {
		out[i] = float32(float64(out[i]) / sum)
	}
}

func layerNorm(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[0], in[1]); err != nil {
		return nil, err
	}
	a, err := axis(r.int("axis", -1), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	length, _ := sizeOf(in[0].Shape[a:])
	scale, bias := in[1], (*Tensor)(nil)
	if len(in) > 2 && in[2] != nil {
		bias = in[2]
	}
	if len(scale.Floats) != length || bias != nil && len(bias.Floats) != length {
		return nil, errShape
	}
	out, err := r.make(Float, in[0].Shape)
	if err != nil {
		return nil, err
	}
	epsilon := float64(r.number("epsilon", 1e-5))
	for at := 0; at < len(out.Floats); at += length {
		normalize(out.Floats[at:][:length], in[0].Floats[at:][:length], epsilon)
		for i := range length {
			out.Floats[at+i] *= scale.Floats[i]
			if bias != nil {
				out.Floats[at+i] += bias.Floats[i]
			}
		}
	}
	return []*Tensor{out}, nil
}

// normalize gives numbers the mean 0 and the variance 1.
func normalize(out, in []float32, epsilon float64) {
	var sum, squares float64
	for _, x := range in {
		sum += float64(x)
	}
	mean := sum / float64(len(in))
	for _, x := range in {
		squares += (float64(x) - mean) * (float64(x) - mean)
	}
	scale := 1 / math.Sqrt(squares/float64(len(in))+epsilon)
	for i, x := range in {
		out[i] = float32((float64(x) - mean) * scale)
	}
}

// A reduction makes one number of many.
type reduction struct {
	start  float64
	add    func(sum, x float64) float64
	finish func(sum float64, n int) float64 // nil if the sum is it
}

var (
	meanOf = reduction{0, plus, func(sum float64, n int) float64 { return sum / float64(n) }}
	sumOf  = reduction{0, plus, nil}
	mostOf = reduction{math.Inf(-1), math.Max, nil}
	least  = reduction{math.Inf(1), math.Min, nil}
	length = reduction{0, func(sum, x float64) float64 { return sum + x*x }, func(sum float64, _ int) float64 { return math.Sqrt(sum) }}
)

func plus(a, b float64) float64 { return a + b }

// reduce takes its axes from an attribute, or from an input in later opsets.
func reduce(how reduction) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		t := in[0]
		if t == nil || t.Kind == Bool {
			return nil, errKind
		}
		named, err := r.ints("axes", in, 1)
		if err != nil {
			return nil, err
		}
		if len(named) == 0 && r.int("noop_with_empty_axes", 0) != 0 {
			return one(r.reshape(t, t.Shape))
		}
		kept, err := without(t.Shape, named)
		if err != nil {
			return nil, err
		}
		out, err := r.reduced(t, kept, how)
		if err != nil || r.int("keepdims", 1) != 0 {
			return []*Tensor{out}, err
		}
		out.Shape = squeezed(t.Shape, kept)
		return []*Tensor{out}, nil
	}
}

// without is a shape in which the axes that are named, or all if none are, have
// length 1; -1 marks them.
func without(shape []int, named []int64) ([]int, error) {
	out := slices.Clone(shape)
	if len(named) == 0 {
		for i := range out {
			out[i] = -1
		}
	}
	for _, n := range named {
		a, err := axis(n, len(shape))
		if err != nil {
			return nil, err
		}
		out[a] = -1
	}
	return out, nil
}

func squeezed(shape, kept []int) (out []int) {
	for i, n := range shape {
		if kept[i] >= 0 {
			out = append(out, n)
		}
	}
	return out
}

func (r *run) reduced(t *Tensor, kept []int, how reduction) (*Tensor, error) {
	shape := slices.Clone(kept)
	for i := range shape {
		if shape[i] < 0 {
			shape[i] = 1
		}
	}
	out, err := r.make(t.Kind, shape)
	if err != nil || out.size() == 0 {
		return out, err
	}
	if err := r.take(8 * out.size()); err != nil {
		return nil, err
	}
	defer func() { r.live -= 8 * out.size() }()
	sums := make([]float64, out.size())
	for i := range sums {
		sums[i] = how.start
	}
	own, to := strides(t.Shape), stretched(shape, t.Shape)
	each(t.Shape, [][]int{own, to}, func(from, at int) { sums[at] = how.add(sums[at], t.at(from)) })
	n := t.size() / len(sums)
	for i, sum := range sums {
		if how.finish != nil {
			sum = how.finish(sum, n)
		}
		if t.Kind == Float {
			out.Floats[i] = float32(sum)
		} else {
			out.Ints[i] = integerOf(sum)
		}
	}
	return out, nil
}

func (t *Tensor) at(i int) float64 {
	if t.Kind == Float {
		return float64(t.Floats[i])
	}
	return float64(t.Ints[i])
}

// cumSum adds up along an axis.
func cumSum(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := integers(in...); err != nil || len(in[1].Ints) != 1 {
		return nil, errKind
	}
	a, err := axis(in[1].Ints[0], len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	if r.int("exclusive", 0) != 0 || r.int("reverse", 0) != 0 {
		return nil, errors.New("adds up in a way that is not known")
	}
	out, err := r.make(Int, in[0].Shape)
	if err != nil {
		return nil, err
	}
	_, after := around(in[0].Shape, a)
	for i, x := range in[0].Ints {
		out.Ints[i] = x
		if i/after%in[0].Shape[a] > 0 {
			out.Ints[i] += out.Ints[i-after]
		}
	}
	return []*Tensor{out}, nil
}
