package onnx

import (
	"errors"
	"math"
	"slices"
)

// unary makes a number of each number.
func unary(fn func(float64) float64) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		if err := floats(in[0]); err != nil {
			return nil, err
		}
		out, err := r.make(Float, in[0].Shape)
		if err != nil {
			return nil, err
		}
		for i, x := range in[0].Floats {
			out.Floats[i] = float32(fn(float64(x)))
		}
		return []*Tensor{out}, nil
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func relu(x float64) float64 { return max(x, 0) }

func gelu(r *run, in []*Tensor) ([]*Tensor, error) {
	if r.node.attrs["approximate"].text == "tanh" {
		return unary(func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		})(r, in)
	}
	return unary(func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) })(r, in)
}

// signed is for operators that take integers as well.
func signed(number func(float64) float64, integer func(int64) int64) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		if in[0] == nil || in[0].Kind != Int {
			return unary(number)(r, in)
		}
		out, err := r.make(Int, in[0].Shape)
		if err != nil {
			return nil, err
		}
		for i, x := range in[0].Ints {
			out.Ints[i] = integer(x)
		}
		return []*Tensor{out}, nil
	}
}

func not(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := kinds(Bool, in); err != nil {
		return nil, err
	}
	out, err := r.make(Bool, in[0].Shape)
	if err != nil {
		return nil, err
	}
	for i, x := range in[0].Ints {
		out.Ints[i] = 1 - x
	}
	return []*Tensor{out}, nil
}

func isNaN(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[0]); err != nil {
		return nil, err
	}
	out, err := r.make(Bool, in[0].Shape)
	if err != nil {
		return nil, err
	}
	for i, x := range in[0].Floats {
		out.Ints[i] = truth(x != x)
	}
	return []*Tensor{out}, nil
}

// pair is two inputs stretched to one shape.
type pair struct {
	a, b   *Tensor
	sa, sb []int
	shape  []int
}

func paired(a, b *Tensor) (p pair, err error) {
	if a == nil || b == nil || a.Kind != b.Kind {
		return p, errKind
	}
	p = pair{a: a, b: b}
	if p.shape, err = broadcast(a.Shape, b.Shape); err != nil {
		return p, err
	}
	p.sa, p.sb = stretched(a.Shape, p.shape), stretched(b.Shape, p.shape)
	return p, nil
}

// pairwise makes a number of two, or an integer of two.
func pairwise(number rowOp[float32, float32], integer func(a, b int64) int64) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		p, err := paired(in[0], in[1])
		if err != nil {
			return nil, err
		}
		if p.a.Kind == Bool || p.a.Kind == Int && integer == nil || p.a.Kind == Float && number == nil {
			return nil, errKind
		}
		out, err := r.make(p.a.Kind, p.shape)
		if err != nil {
			return nil, err
		}
		if p.a.Kind == Float {
			combine(out.Floats, p, p.a.Floats, p.b.Floats, number)
		} else {
			combine(out.Ints, p, p.a.Ints, p.b.Ints, single(integer))
		}
		return []*Tensor{out}, nil
	}
}

// The operations that models spend their time with.
func add(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

func subtract(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] - b[i]
	}
}

func multiply(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] * b[i]
	}
}

func divide(out, a, b []float32) {
	for i := range out {
		out[i] = a[i] / b[i]
	}
}

// variadic takes any number of inputs, two at a time.
func variadic(two op) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		if len(in) == 1 {
			return same(r, in)
		}
		sum := []*Tensor{in[0]}
		for i, next := range in[1:] {
			out, err := two(r, []*Tensor{sum[0], next})
			if err != nil {
				return nil, err
			}
			if i > 0 {
				r.live -= sum[0].bytes()
			}
			sum = out
		}
		return sum, nil
	}
}

// compare makes a truth of two numbers, integers or truths.
func compare(number func(a, b float32) int64, integer func(a, b int64) int64) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		p, err := paired(in[0], in[1])
		if err != nil {
			return nil, err
		}
		out, err := r.make(Bool, p.shape)
		if err != nil {
			return nil, err
		}
		if p.a.Kind == Float {
			combine(out.Ints, p, p.a.Floats, p.b.Floats, single(number))
		} else {
			combine(out.Ints, p, p.a.Ints, p.b.Ints, single(integer))
		}
		return []*Tensor{out}, nil
	}
}

// logic makes a truth of two.
func logic(fn func(a, b int64) int64) op {
	return func(r *run, in []*Tensor) ([]*Tensor, error) {
		if err := kinds(Bool, in); err != nil {
			return nil, err
		}
		return compare(nil, fn)(r, in)
	}
}

// powers takes an exponent of either kind.
func powers(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[0]); err != nil {
		return nil, err
	}
	exponent := in[1]
	if exponent != nil && exponent.Kind == Int {
		cast, err := r.cast(exponent, Float)
		if err != nil {
			return nil, err
		}
		defer func() { r.live -= cast.bytes() }()
		exponent = cast
	}
	return pairwise(single(power), nil)(r, []*Tensor{in[0], exponent})
}

func power(a, b float32) float32 {
	switch b {
	case 2:
		return a * a
	case 0.5:
		return float32(math.Sqrt(float64(a)))
	}
	return float32(math.Pow(float64(a), float64(b)))
}

// quotient is 0 where there is none, which the format leaves open.
func quotient(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// modulo has the sign of the divisor, or with fmod that of the dividend.
func modulo(r *run, in []*Tensor) ([]*Tensor, error) {
	if r.int("fmod", 0) != 0 {
		return pairwise(single(func(a, b float32) float32 { return float32(math.Mod(float64(a), float64(b))) }), remainder)(r, in)
	}
	return pairwise(nil, func(a, b int64) int64 {
		m := remainder(a, b)
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m
	})(r, in)
}

func remainder(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a % b
}

func where(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := kinds(Bool, in[:1]); err != nil {
		return nil, err
	}
	p, err := paired(in[1], in[2])
	if err != nil {
		return nil, err
	}
	shape, err := broadcast(in[0].Shape, p.shape)
	if err != nil {
		return nil, err
	}
	out, err := r.make(p.a.Kind, shape)
	if err != nil {
		return nil, err
	}
	steps := [][]int{stretched(in[0].Shape, shape), stretched(p.a.Shape, shape), stretched(p.b.Shape, shape)}
	if out.Kind == Float {
		choose(out.Floats, shape, steps, in[0].Ints, p.a.Floats, p.b.Floats)
	} else {
		choose(out.Ints, shape, steps, in[0].Ints, p.a.Ints, p.b.Ints)
	}
	return []*Tensor{out}, nil
}

func choose[T any](out []T, shape []int, steps [][]int, by []int64, yes, no []T) {
	done := 0
	rows(shape, steps, func(at []int, length int) {
		for k := range length {
			if by[at[0]+k*lastStep(steps[0])] != 0 {
				out[done] = yes[at[1]+k*lastStep(steps[1])]
			} else {
				out[done] = no[at[2]+k*lastStep(steps[2])]
			}
			done++
		}
	})
}

// dropout leaves everything in, except while a model learns.
func dropout(r *run, in []*Tensor) ([]*Tensor, error) {
	if len(in) > 2 && in[2] != nil && slices.Contains(in[2].Ints, 1) {
		return nil, errors.New("is set to learn")
	}
	return same(r, in)
}

func casts(r *run, in []*Tensor) ([]*Tensor, error) {
	kind, ok := kindOf(r.int("to", 0))
	if !ok || in[0] == nil {
		return nil, errors.New("makes elements of a type that is not known")
	}
	return one(r.cast(in[0], kind))
}

func (r *run) cast(t *Tensor, kind Kind) (*Tensor, error) {
	out, err := r.make(kind, t.Shape)
	if err != nil {
		return nil, err
	}
	for i := range t.size() {
		switch {
		case t.Kind == Float && kind == Float:
			out.Floats[i] = t.Floats[i]
		case kind == Float:
			out.Floats[i] = float32(t.Ints[i])
		case t.Kind == Float && kind == Bool:
			out.Ints[i] = truth(t.Floats[i] != 0)
		case t.Kind == Float:
			out.Ints[i] = integerOf(float64(t.Floats[i]))
		case kind == Bool:
			out.Ints[i] = truth(t.Ints[i] != 0)
		default:
			out.Ints[i] = t.Ints[i]
		}
	}
	return out, nil
}

// integerOf cuts off what follows the point; out of range it is the nearest
// there is, on every processor.
func integerOf(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(x)
}

// clip takes its limits from attributes up to opset 10, from inputs later.
func clip(r *run, in []*Tensor) ([]*Tensor, error) {
	if err := floats(in[0]); err != nil {
		return nil, err
	}
	low, high := float32(math.Inf(-1)), float32(math.Inf(1))
	low, high = r.number("min", low), r.number("max", high)
	for i, limit := range []*float32{&low, &high} {
		if len(in) <= i+1 || in[i+1] == nil {
			continue
		}
		if in[i+1].Kind != Float || len(in[i+1].Floats) != 1 {
			return nil, errKind
		}
		*limit = in[i+1].Floats[0]
	}
	return unary(func(x float64) float64 { return min(max(x, float64(low)), float64(high)) })(r, in[:1])
}
