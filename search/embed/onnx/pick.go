package onnx

import (
	"errors"
	"slices"
)

var errRange = errors.New("looks up an element that is not there")

// gather looks up whole rows, such as those of words.
func gather(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := integers(in[1]); err != nil || in[0] == nil {
		return nil, errKind
	}
	from, index := in[0], in[1]
	a, err := axis(r.int("axis", 0), len(from.Shape))
	if err != nil {
		return nil, err
	}
	out, err := r.make(from.Kind, slices.Concat(from.Shape[:a], index.Shape, from.Shape[a+1:]))
	if err != nil || out.size() == 0 {
		return []*Tensor{out}, err
	}
	before, after := around(from.Shape, a)
	length := from.Shape[a]
	for b := range before {
		for i, named := range index.Ints {
			if named < 0 {
				named += int64(length)
			}
			if named < 0 || named >= int64(length) {
				return nil, errRange
			}
			copyBlock(out, (b*len(index.Ints)+i)*after, from, (b*length+int(named))*after, after)
		}
	}
	return []*Tensor{out}, nil
}

// copyBlock copies n elements between tensors of one kind.
func copyBlock(out *Tensor, to int, in *Tensor, from, n int) {
	if in.Kind == Float {
		copy(out.Floats[to:][:n], in.Floats[from:][:n])
		return
	}
	copy(out.Ints[to:][:n], in.Ints[from:][:n])
}

// gatherElements looks up single elements along an axis.
func gatherElements(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := integers(in[1]); err != nil || in[0] == nil || len(in[0].Shape) != len(in[1].Shape) {
		return nil, errShape
	}
	from, index := in[0], in[1]
	a, err := axis(r.int("axis", 0), len(from.Shape))
	if err != nil {
		return nil, err
	}
	for i, n := range index.Shape {
		if i != a && n > from.Shape[i] {
			return nil, errShape
		}
	}
	out, err := r.make(from.Kind, index.Shape)
	if err != nil {
		return nil, err
	}
	steps := strides(from.Shape)
	step, length := steps[a], int64(from.Shape[a])
	steps[a] = 0
	each(index.Shape, [][]int{strides(index.Shape), steps}, func(at, base int) {
		named := index.Ints[at]
		if named < 0 {
			named += length
		}
		if named < 0 || named >= length {
			err = errRange
			return
		}
		copyBlock(out, at, from, base+int(named)*step, 1)
	})
	return []*Tensor{out}, err
}

func concat(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	a, err := axis(r.int("axis", 0), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	return one(r.joined(in, in[0], a))
}

// joined puts tensors like one of them beside each other along an axis.
func (r *run) joined(parts []*Tensor, like *Tensor, a int) (*Tensor, error) {
	shape := slices.Clone(like.Shape)
	shape[a] = 0
	for _, p := range parts {
		if p == nil || p.Kind != like.Kind {
			return nil, errKind
		}
		if len(p.Shape) != len(shape) || !equalBut(p.Shape, shape, a) {
			return nil, errShape
		}
		if shape[a] += p.Shape[a]; shape[a] > maxElements {
			return nil, errShape
		}
	}
	out, err := r.make(like.Kind, shape)
	if err != nil || out.size() == 0 {
		return out, err
	}
	before, after := around(shape, a)
	at := 0
	for b := range before {
		for _, p := range parts {
			n := p.Shape[a] * after
			copyBlock(out, at, p, b*n, n)
			at += n
		}
	}
	return out, nil
}

func equalBut(a, b []int, axis int) bool {
	for i := range a {
		if i != axis && a[i] != b[i] {
			return false
		}
	}
	return true
}

// slice takes its places from attributes up to opset 9, from inputs later.
func slice(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	var places [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		var err error
		if places[i], err = r.ints(name, in, i+1); err != nil {
			return nil, err
		}
	}
	starts, ends, axes, by := places[0], places[1], places[2], places[3]
	n := len(starts)
	if len(ends) != n || axes != nil && len(axes) != n || by != nil && len(by) != n {
		return nil, errShape
	}
	shape, steps := slices.Clone(in[0].Shape), strides(in[0].Shape)
	start := 0
	for i := range starts {
		named, step := int64(i), int64(1)
		if axes != nil {
			named = axes[i]
		}
		if by != nil {
			step = by[i]
		}
		a, err := axis(named, len(shape))
		if err != nil {
			return nil, err
		}
		from, length, err := section(starts[i], ends[i], step, int64(shape[a]))
		if err != nil {
			return nil, err
		}
		start += int(from) * steps[a]
		shape[a] = int(length)
		steps[a] *= int(step)
	}
	return one(r.gathered(in[0], shape, steps, start))
}

// section is where a slice of an axis begins and how many elements it takes.
func section(from, to, step, length int64) (start, count int64, err error) {
	if step == 0 || step > maxElements || step < -maxElements {
		return 0, 0, errors.New("goes in steps that are too long, or of 0")
	}
	if step > 0 {
		from, to = bound(from, length), bound(to, length)
		return from, max(0, (to-from+step-1)/step), nil
	}
	from, to = backward(from, length), backward(to, length)
	return max(from, 0), max(0, (from-to-step-1)/-step), nil
}

// backward is bound for who goes to the front: from -1, before the first one, to
// the last.
func backward(at, length int64) int64 {
	if at < 0 {
		at += length
	}
	return min(max(at, -1), length-1)
}

// split takes the lengths of the parts from an attribute or an input; without
// them all are the same.
func split(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	a, err := axis(r.int("axis", 0), len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	parts, err := r.ints("split", in, 1)
	if err != nil {
		return nil, err
	}
	length, count := in[0].Shape[a], len(r.node.out)
	if parts == nil {
		each := (length + count - 1) / count
		for left := length; len(parts) < count; left -= each {
			parts = append(parts, int64(max(0, min(each, left))))
		}
	}
	var out []*Tensor
	steps, at := strides(in[0].Shape), 0
	for _, n := range parts {
		if n < 0 || n > int64(length-at) || len(out) == count {
			return nil, errShape
		}
		shape := slices.Clone(in[0].Shape)
		shape[a] = int(n)
		part, err := r.gathered(in[0], shape, steps, at*steps[a])
		if err != nil {
			return nil, err
		}
		out = append(out, part)
		at += int(n)
	}
	return out, nil
}
