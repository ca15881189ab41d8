package onnx

import "context"

// packed is the right side of a product, column after column, so that both
// sides are read in order.
type packed struct {
	inner, columns int
	data           []float32
}

func packRight(right []float32, inner, columns int) *packed {
	p := &packed{inner, columns, make([]float32, inner*columns)}
	for i := range inner {
		for j, x := range right[i*columns:][:columns] {
			p.data[j*inner+i] = x
		}
	}
	return p
}

// multiply sets out to the product of rows of left, which lie one after the
// other, with p. Errors: that of ctx.
func (p *packed) multiply(ctx context.Context, out, left []float32, rows int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	i := 0
	for ; i+2 <= rows; i += 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := left[i*p.inner:]
		p.twoRows(out[i*p.columns:][:p.columns], out[(i+1)*p.columns:][:p.columns], a[:p.inner], a[p.inner:][:p.inner])
	}
	if i < rows {
		row := left[i*p.inner:][:p.inner]
		p.twoRows(out[i*p.columns:][:p.columns], make([]float32, p.columns), row, row)
	}
	return nil
}

// twoRows multiplies two rows with four columns at a time, which is as many
// sums as a processor has registers for. One row alone costs as much.
func (p *packed) twoRows(out0, out1, a0, a1 []float32) {
	j := 0
	for ; j+4 <= p.columns; j += 4 {
		b := p.data[j*p.inner:]
		s := dot2x4(a0, a1, b[:p.inner], b[p.inner:][:p.inner], b[2*p.inner:][:p.inner], b[3*p.inner:][:p.inner])
		out0[j], out0[j+1], out0[j+2], out0[j+3] = s[0], s[1], s[2], s[3]
		out1[j], out1[j+1], out1[j+2], out1[j+3] = s[4], s[5], s[6], s[7]
	}
	for ; j < p.columns; j++ {
		b := p.data[j*p.inner:][:p.inner]
		out0[j], out1[j] = dot(a0, b), dot(a1, b)
	}
}

func plainDot2x4(a0, a1, b0, b1, b2, b3 []float32) [8]float32 {
	n := len(a0)
	a1, b0, b1, b2, b3 = a1[:n], b0[:n], b1[:n], b2[:n], b3[:n]
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	for k, x := range a0 {
		y := a1[k]
		c0, c1, c2, c3 := b0[k], b1[k], b2[k], b3[k]
		s00 += x * c0
		s01 += x * c1
		s02 += x * c2
		s03 += x * c3
		s10 += y * c0
		s11 += y * c1
		s12 += y * c2
		s13 += y * c3
	}
	return [8]float32{s00, s01, s02, s03, s10, s11, s12, s13}
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	k := 0
	for ; k+4 <= len(a); k += 4 {
		s0 += a[k] * b[k]
		s1 += a[k+1] * b[k+1]
		s2 += a[k+2] * b[k+2]
		s3 += a[k+3] * b[k+3]
	}
	for ; k < len(a); k++ {
		s0 += a[k] * b[k]
	}
	return s0 + s1 + s2 + s3
}

// matMul multiplies matrices, or many of them one by one.
func matMul(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in...); err != nil {
		return nil, err
	}
	if w := r.node.weights; w != nil {
		return one(r.weighted(in[0], w))
	}
	if len(in) != 2 || len(in[0].Shape) < 2 || len(in[1].Shape) < 2 {
		return nil, errShape
	}
	return one(r.products(in[0], in[1]))
}

// weighted multiplies all rows of left with weights.
func (r *run) weighted(left *Tensor, w *packed) (*Tensor, error) {
	last := len(left.Shape) - 1
	if last < 0 || left.Shape[last] != w.inner {
		return nil, errShape
	}
	out, err := r.make(Float, append(left.Shape[:last:last], w.columns))
	if err != nil {
		return nil, err
	}
	if w.columns == 0 {
		return out, nil
	}
	return out, w.multiply(r.ctx, out.Floats, left.Floats, len(out.Floats)/w.columns)
}

// products multiplies each matrix of left with the one of right in the same
// place.
func (r *run) products(left, right *Tensor) (*Tensor, error) {
	la, lb := len(left.Shape)-2, len(right.Shape)-2
	rows, inner, columns := left.Shape[la], left.Shape[la+1], right.Shape[lb+1]
	many, err := broadcast(left.Shape[:la], right.Shape[:lb])
	if err != nil || right.Shape[lb] != inner {
		return nil, errShape
	}
	out, err := r.make(Float, append(many[:len(many):len(many)], rows, columns))
	if err != nil {
		return nil, err
	}
	if _, err := sizeOf([]int{inner, columns}); err != nil { // another one than of right, if that is empty
		return nil, err
	}
	packing := 4 * inner * columns // of one at a time
	if err := r.take(packing); err != nil {
		return nil, err
	}
	defer func() { r.live -= packing }()
	at := [][]int{stretched(left.Shape[:la], many), stretched(right.Shape[:lb], many)}
	n := 0
	each(many, at, func(l, m int) {
		if err != nil {
			return
		}
		p := packRight(right.Floats[m*inner*columns:], inner, columns)
		err = p.multiply(r.ctx, out.Floats[n*rows*columns:], left.Floats[l*rows*inner:], rows)
		n++
	})
	return out, err
}

// each calls fn for each place in a shape, with where it is in two others.
func each(shape []int, steps [][]int, fn func(a, b int)) {
	rows(shape, steps, func(at []int, length int) {
		for k := range length {
			fn(at[0]+k*lastStep(steps[0]), at[1]+k*lastStep(steps[1]))
		}
	})
}

// gemm is alpha*A*B + beta*C, with either side turned on request.
func gemm(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[:2]...); err != nil || len(in[0].Shape) != 2 || len(in[1].Shape) != 2 {
		return nil, errShape
	}
	left, right := in[0], in[1]
	for name, side := range map[string]**Tensor{"transA": &left, "transB": &right} {
		if r.int(name, 0) == 0 {
			continue
		}
		turned, err := r.transposed(*side, []int{1, 0})
		if err != nil {
			return nil, err
		}
		defer func() { r.live -= turned.bytes() }()
		*side = turned
	}
	out, err := r.products(left, right)
	if err != nil {
		return nil, err
	}
	for i := range out.Floats {
		out.Floats[i] *= r.number("alpha", 1)
	}
	if len(in) < 3 || in[2] == nil {
		return []*Tensor{out}, nil
	}
	beta := r.number("beta", 1)
	sum, err := pairwise(single(func(a, c float32) float32 { return a + beta*c }), nil)(r, []*Tensor{out, in[2]})
	r.live -= out.bytes()
	return sum, err
}
