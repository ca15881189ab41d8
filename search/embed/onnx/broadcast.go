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

// A rowOp fills a row from two of the same length.
type rowOp[A, R any] func(out []R, a, b []A)

// single is the rowOp of an operation on single elements.
func single[A, R any](fn func(a, b A) R) rowOp[A, R] {
	return func(out []R, a, b []A) {
		for i := range out {
			out[i] = fn(a[i], b[i])
		}
	}
}

// combine fills out, of a shape, from two tensors stretched to it.
func combine[A, R any](out []R, p pair, a, b []A, fn rowOp[A, R]) {
	var left, right []A // of rows that are one element
	done := 0
	rows(p.shape, [][]int{p.sa, p.sb}, func(at []int, length int) {
		x, y := a[at[0]:], b[at[1]:]
		if lastStep(p.sa) == 0 {
			left = repeated(left, x[0], length)
			x = left
		}
		if lastStep(p.sb) == 0 {
			right = repeated(right, y[0], length)
			y = right
		}
		fn(out[done:][:length], x[:length], y[:length])
		done += length
	})
}

// repeated is one element many times, in the memory of row if there is any.
func repeated[T any](row []T, x T, length int) []T {
	if row == nil {
		row = make([]T, length)
	}
	for i := range row {
		row[i] = x
	}
	return row
}
