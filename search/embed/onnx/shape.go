package onnx

import (
	"errors"
	"slices"
)

func shapeOf(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	rank := int64(len(in[0].Shape))
	from := bound(r.int("start", 0), rank)
	to := max(from, bound(r.int("end", rank), rank))
	out, err := r.make(Int, []int{int(to - from)})
	if err != nil {
		return nil, err
	}
	for i, n := range in[0].Shape[from:to] {
		out.Ints[i] = int64(n)
	}
	return []*Tensor{out}, nil
}

// bound is a place from 0 to length, where -1 is the last element.
func bound(at, length int64) int64 {
	if at < 0 {
		at += length
	}
	return min(max(at, 0), length)
}

func same(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	return one(r.reshape(in[0], in[0].Shape))
}

func reshape(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := integers(in[1]); err != nil || in[0] == nil || len(in[1].Ints) > maxRank {
		return nil, errShape
	}
	shape := make([]int, len(in[1].Ints))
	open, size := -1, 1
	for i, n := range in[1].Ints {
		switch {
		case n == -1 && open < 0:
			open = i
			continue
		case n == 0 && r.int("allowzero", 0) == 0:
			if i >= len(in[0].Shape) {
				return nil, errShape
			}
			n = int64(in[0].Shape[i])
		case n < 0 || n > maxElements:
			return nil, errShape
		}
		shape[i] = int(n)
		if size *= int(n); size > maxElements {
			return nil, errShape
		}
	}
	if open >= 0 {
		if size == 0 {
			return nil, errShape
		}
		shape[open] = in[0].size() / size
	}
	return one(r.reshape(in[0], shape))
}

func flatten(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	rank := int64(len(in[0].Shape))
	a := r.int("axis", 1)
	if a < -rank || a > rank {
		return nil, errShape
	}
	a = bound(a, rank)
	before, err := sizeOf(in[0].Shape[:a])
	if err != nil {
		return nil, err
	}
	after, err := sizeOf(in[0].Shape[a:])
	if err != nil {
		return nil, err
	}
	return one(r.reshape(in[0], []int{before, after}))
}

func transpose(r *run, in []*Tensor) ([]*Tensor, error) {
	if in[0] == nil {
		return nil, errKind
	}
	rank := len(in[0].Shape)
	order := make([]int, rank)
	for i := range order {
		order[i] = rank - 1 - i
	}
	if perm, ok := r.node.attrs["perm"]; ok {
		if len(perm.ints) != rank {
			return nil, errShape
		}
		for i, p := range perm.ints {
			if p < 0 || p >= int64(rank) || slices.Contains(perm.ints[:i], p) {
				return nil, errShape
			}
			order[i] = int(p)
		}
	}
	return one(r.transposed(in[0], order))
}

func (r *run) transposed(t *Tensor, order []int) (*Tensor, error) {
	own := strides(t.Shape)
	shape, steps := make([]int, len(order)), make([]int, len(order))
	for i, from := range order {
		shape[i], steps[i] = t.Shape[from], own[from]
	}
	return r.gathered(t, shape, steps, 0)
}

// gathered is the elements of t that lie apart by steps, from start on.
func (r *run) gathered(t *Tensor, shape, steps []int, start int) (*Tensor, error) {
	out, err := r.make(t.Kind, shape)
	if err != nil {
		return nil, err
	}
	if t.Kind == Float {
		pick(out.Floats, t.Floats, shape, steps, start)
	} else {
		pick(out.Ints, t.Ints, shape, steps, start)
	}
	return out, nil
}

func pick[T any](out, in []T, shape, steps []int, start int) {
	done, step := 0, lastStep(steps)
	rows(shape, [][]int{steps}, func(at []int, length int) {
		from := start + at[0]
		for k := range length {
			out[done+k] = in[from+k*step]
		}
		done += length
	})
}

func unsqueeze(r *run, in []*Tensor) ([]*Tensor, error) {
	named, err := r.ints("axes", in, 1)
	if err != nil || in[0] == nil {
		return nil, errKind
	}
	rank := len(in[0].Shape) + len(named)
	if rank > maxRank {
		return nil, errShape
	}
	shape := make([]int, rank)
	for _, n := range named {
		a, err := axis(n, rank)
		if err != nil || shape[a] != 0 {
			return nil, errShape
		}
		shape[a] = 1
	}
	rest := in[0].Shape
	for i := range shape {
		if shape[i] == 0 {
			shape[i], rest = rest[0], rest[1:]
		}
	}
	return one(r.reshape(in[0], shape))
}

func squeeze(r *run, in []*Tensor) ([]*Tensor, error) {
	named, err := r.ints("axes", in, 1)
	if err != nil || in[0] == nil {
		return nil, errKind
	}
	shape := in[0].Shape
	if named == nil {
		return one(r.reshape(in[0], slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })))
	}
	kept := slices.Clone(shape)
	for _, n := range named {
		a, err := axis(n, len(shape))
		if err != nil || shape[a] != 1 {
			return nil, errShape
		}
		kept[a] = -1
	}
	return one(r.reshape(in[0], squeezed(shape, kept)))
}

// lengths are integers as a shape.
func lengths(t *Tensor) ([]int, error) {
	if err := integers(t); err != nil {
		return nil, err
	}
	if len(t.Shape) != 1 || len(t.Ints) > maxRank {
		return nil, errShape
	}
	out := make([]int, len(t.Ints))
	for i, n := range t.Ints {
		if n < 0 || n > maxElements {
			return nil, errShape
		}
		out[i] = int(n)
	}
	return out, nil
}

func expand(r *run, in []*Tensor) ([]*Tensor, error) {
	to, err := lengths(in[1])
	if err != nil || in[0] == nil {
		return nil, errShape
	}
	shape, err := broadcast(in[0].Shape, to)
	if err != nil {
		return nil, err
	}
	if _, err := sizeOf(shape); err != nil {
		return nil, err
	}
	return one(r.gathered(in[0], shape, stretched(in[0].Shape, shape), 0))
}

func filled(r *run, in []*Tensor) ([]*Tensor, error) {
	shape, err := lengths(in[0])
	if err != nil {
		return nil, err
	}
	value := &Tensor{Shape: []int{1}, Floats: []float32{0}}
	if t := r.node.attrs["value"].value; t != nil {
		value = t
	}
	if value.size() != 1 {
		return nil, errShape
	}
	return one(r.gathered(value, shape, make([]int, len(shape)), 0))
}

func tile(r *run, in []*Tensor) ([]*Tensor, error) {
	times, err := lengths(in[1])
	if err != nil || in[0] == nil || len(times) != len(in[0].Shape) {
		return nil, errShape
	}
	out := in[0]
	for a := len(times) - 1; a >= 0; a-- {
		parts := make([]*Tensor, 0, min(times[a], maxTimes))
		if times[a] > maxTimes {
			return nil, errors.New("repeats a tensor too often")
		}
		for range times[a] {
			parts = append(parts, out)
		}
		former := out
		if out, err = r.joined(parts, former, a); err != nil {
			return nil, err
		}
		if former != in[0] {
			r.live -= former.bytes()
		}
	}
	if out == in[0] {
		return same(r, in)
	}
	return []*Tensor{out}, nil
}

// maxTimes is how often an axis can be repeated.
const maxTimes = 1 << 16

func ranges(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := integers(in...); err != nil {
		return nil, err
	}
	for _, t := range in {
		if len(t.Ints) != 1 || t.Ints[0] > maxElements || t.Ints[0] < -maxElements {
			return nil, errShape
		}
	}
	from, to, step := in[0].Ints[0], in[1].Ints[0], in[2].Ints[0]
	if step == 0 {
		return nil, errors.New("counts in steps of 0")
	}
	n := (to - from) / step
	if (to-from)%step != 0 {
		n++
	}
	if (to > from) != (step > 0) {
		n = 0
	}
	out, err := r.make(Int, []int{int(n)})
	if err != nil {
		return nil, err
	}
	for i := range out.Ints {
		out.Ints[i] = from + int64(i)*step
	}
	return []*Tensor{out}, nil
}
