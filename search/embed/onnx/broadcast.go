package onnx

// broadcast is the shape that several are stretched to, each along its axes of
// length 1 and those that it does not have.
func broadcast(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
		for _, s := range shapes {
			at := i - (rank - len(s))
			if at < 0 || s[at] == 1 {
				continue
			}
			if out[i] != 1 && out[i] != s[at] {
				return nil, errShape
			}
			out[i] = s[at]
		}
	}
	return out, nil
}

// stretched is the strides of a shape stretched to another one: 0 where it
// repeats.
func stretched(shape, to []int) []int {
	out := make([]int, len(to))
	own := strides(shape)
	for i, n := range shape {
		if n > 1 {
			out[len(to)-len(shape)+i] = own[i]
		}
	}
	return out
}

// rows calls fn for each row along the last axis of a shape: where it begins in
// each of the tensors whose strides are given, and how long it is.
func rows(shape []int, steps [][]int, fn func(at []int, length int)) {
	at := make([]int, len(steps))
	if len(shape) == 0 {
		fn(at, 1)
		return
	}
	last := len(shape) - 1
	for _, n := range shape {
		if n == 0 {
			return
		}
	}
	index := make([]int, last)
	for {
		fn(at, shape[last])
		axis := last - 1
		for ; axis >= 0; axis-- {
			index[axis]++
			for i, s := range steps {
				at[i] += s[axis]
			}
			if index[axis] < shape[axis] {
				break
			}
			for i, s := range steps {
				at[i] -= s[axis] * shape[axis]
			}
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// lastStep is how far apart neighbors in a row lie.
func lastStep(steps []int) int {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1]
}

// combine fills out, of a shape, from two tensors stretched to it.
func combine[A, R any](out []R, shape []int, a, b []A, sa, sb []int, fn func(a, b A) R) {
	da, db := lastStep(sa), lastStep(sb)
	done := 0
	rows(shape, [][]int{sa, sb}, func(at []int, length int) {
		row := out[done:][:length]
		done += length
		i, j := at[0], at[1]
		for k := range row {
			row[k] = fn(a[i], b[j])
			i += da
			j += db
		}
	})
}
