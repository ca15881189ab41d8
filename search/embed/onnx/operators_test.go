package onnx_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"cairn/search/embed/modeltest"
	"cairn/search/embed/onnx"
)

// N, F and I are short for the parts of a model.
var (
	N = modeltest.N
	F = modeltest.F
	I = modeltest.I
)

type dims = []int64

func parse(t *testing.T, m modeltest.Model) *onnx.Model {
	t.Helper()
	out, err := onnx.Parse(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// step is what one operator makes of constant inputs, which are named after
// their places in the node: a, b, c.
func step(t *testing.T, opset int64, n modeltest.Node, in ...modeltest.Tensor) (*onnx.Tensor, error) {
	t.Helper()
	m := modeltest.Model{Opset: opset, Nodes: []modeltest.Node{n}, Weights: in, Out: n.Out[:1]}
	parsed, err := onnx.Parse(m.Bytes())
	if err != nil {
		return nil, err
	}
	out, err := parsed.RunBare(t.Context(), 1<<20, nil)
	if err != nil {
		return nil, err
	}
	return out[n.Out[0]], nil
}

// says is a tensor as text: its shape and its elements to four digits.
func says(t *onnx.Tensor) string {
	if t.Kind != onnx.Float {
		return fmt.Sprint(t.Shape, t.Ints)
	}
	var b []string
	for _, x := range t.Floats {
		b = append(b, fmt.Sprintf("%.4g", x))
	}
	return fmt.Sprint(t.Shape, b)
}

func TestEveryOperatorDoesWhatItsSchemaSays(t *testing.T) {
	t.Parallel()
	six := F("a", dims{2, 3}, 1, 2, 3, 4, 5, 6)
	ints := I("a", dims{4}, 5, -3, 7, 0)
	for _, c := range []struct {
		opset int64
		node  modeltest.Node
		in    []modeltest.Tensor
		want  string
	}{
		{17, N("Add", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{3}, 10, 20, 30)}, "[2 3] [11 22 33 14 25 36]"},
		{17, N("Sub", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{2, 1}, 1, 2)}, "[2 3] [0 1 2 2 3 4]"},
		{17, N("Mul", "y", "b", "a"), []modeltest.Tensor{six, F("b", nil, 2)}, "[2 3] [2 4 6 8 10 12]"},
		{17, N("Div", "y", "a", "b"), []modeltest.Tensor{ints, I("b", nil, 2)}, "[4] [2 -1 3 0]"},
		{17, N("Mod", "y", "a", "b"), []modeltest.Tensor{ints, I("b", nil, 4)}, "[4] [1 1 3 0]"},
		{17, N("Mod", "y", "a", "b").With("fmod", int64(1)), []modeltest.Tensor{ints, I("b", nil, 4)}, "[4] [1 -3 3 0]"},
		{17, N("Pow", "y", "a", "b"), []modeltest.Tensor{six, F("b", nil, 2)}, "[2 3] [1 4 9 16 25 36]"},
		{17, N("Pow", "y", "a", "b"), []modeltest.Tensor{six, I("b", nil, 3)}, "[2 3] [1 8 27 64 125 216]"},
		{17, N("Max", "y", "a", "b", "c"), []modeltest.Tensor{six, F("b", nil, 2), F("c", nil, 5)}, "[2 3] [5 5 5 5 5 6]"},
		{17, N("Min", "y", "a", "b"), []modeltest.Tensor{six, F("b", nil, 2)}, "[2 3] [1 2 2 2 2 2]"},
		{17, N("Abs", "y", "a"), []modeltest.Tensor{ints}, "[4] [5 3 7 0]"},
		{17, N("Neg", "y", "a"), []modeltest.Tensor{F("a", dims{2}, 1, -2)}, "[2] [-1 2]"},
		{17, N("Erf", "y", "a"), []modeltest.Tensor{F("a", dims{3}, 0, 1, -2)}, "[3] [0 0.8427 -0.9953]"},
		{20, N("Gelu", "y", "a"), []modeltest.Tensor{F("a", dims{2}, 1, -1)}, "[2] [0.8413 -0.1587]"},
		{20, N("Gelu", "y", "a").With("approximate", "tanh"), []modeltest.Tensor{F("a", dims{2}, 1, -1)}, "[2] [0.8412 -0.1588]"},
		{17, N("Sigmoid", "y", "a"), []modeltest.Tensor{F("a", dims{2}, 0, 1)}, "[2] [0.5 0.7311]"},
		{17, N("Relu", "y", "a"), []modeltest.Tensor{F("a", dims{2}, -1, 2)}, "[2] [0 2]"},
		{17, N("Reciprocal", "y", "a"), []modeltest.Tensor{F("a", dims{1}, 4)}, "[1] [0.25]"},
		{17, N("Clip", "y", "a", "", "b"), []modeltest.Tensor{six, F("b", nil, 4)}, "[2 3] [1 2 3 4 4 4]"},
		{7, N("Clip", "y", "a").With("min", float32(3)), []modeltest.Tensor{six}, "[2 3] [3 3 3 4 5 6]"},

		{17, N("Equal", "y", "a", "b"), []modeltest.Tensor{ints, I("b", nil, 7)}, "[4] [0 0 1 0]"},
		{17, N("Less", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{3}, 2, 2, 4)}, "[2 3] [1 0 1 0 0 0]"},
		{17, N("GreaterOrEqual", "y", "a", "b"), []modeltest.Tensor{six, F("b", nil, 4)}, "[2 3] [0 0 0 1 1 1]"},
		{17, N("Cast", "y", "a").With("to", int64(7)), []modeltest.Tensor{F("a", dims{4}, 1.9, -1.9, float32(math.NaN()), float32(math.Inf(1)))}, "[4] [1 -1 0 9223372036854775807]"},
		{17, N("Cast", "y", "a").With("to", int64(9)), []modeltest.Tensor{ints}, "[4] [1 1 1 0]"},
		{17, N("Cast", "y", "a").With("to", int64(1)), []modeltest.Tensor{ints}, "[4] [5 -3 7 0]"},
		{17, N("CumSum", "y", "a", "b"), []modeltest.Tensor{I("a", dims{2, 3}, 1, 1, 1, 0, 1, 1), I("b", nil, 1)}, "[2 3] [1 2 3 0 1 2]"},

		{17, N("MatMul", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{3, 2}, 1, 0, 0, 1, 1, 1)}, "[2 2] [4 5 10 11]"},
		{17, N("Gemm", "y", "a", "b", "c").With("transB", int64(1)).With("alpha", float32(2)), []modeltest.Tensor{six, F("b", dims{2, 3}, 1, 0, 1, 0, 1, 0), F("c", dims{2}, 1, 100)}, "[2 2] [9 104 21 110]"},
		{17, N("Gemm", "y", "a", "b").With("transA", int64(1)), []modeltest.Tensor{six, F("b", dims{2, 1}, 1, 1)}, "[3 1] [5 7 9]"},
		{17, N("Softmax", "y", "a"), []modeltest.Tensor{F("a", dims{2, 2}, 0, 0, 1000, 1000)}, "[2 2] [0.5 0.5 0.5 0.5]"},
		{11, N("Softmax", "y", "a"), []modeltest.Tensor{F("a", dims{1, 2}, 0, 1)}, "[1 2] [0.2689 0.7311]"},
		{17, N("LayerNormalization", "y", "a", "b", "c"), []modeltest.Tensor{F("a", dims{2, 2}, 1, 3, 5, 5), F("b", dims{2}, 1, 2), F("c", dims{2}, 0, 10)}, "[2 2] [-1 12 0 10]"},
		{17, N("ReduceMean", "y", "a").With("axes", []int64{-1}), []modeltest.Tensor{six}, "[2 1] [2 5]"},
		{18, N("ReduceMean", "y", "a", "b").With("keepdims", int64(0)), []modeltest.Tensor{six, I("b", dims{1}, 0)}, "[3] [2.5 3.5 4.5]"},
		{17, N("ReduceSum", "y", "a"), []modeltest.Tensor{six}, "[1 1] [21]"},
		{17, N("ReduceMax", "y", "a").With("axes", []int64{0, 1}).With("keepdims", int64(0)), []modeltest.Tensor{six}, "[] [6]"},
		{17, N("ReduceMin", "y", "a"), []modeltest.Tensor{ints}, "[1] [-3]"},
		{17, N("ReduceL2", "y", "a"), []modeltest.Tensor{F("a", dims{2}, 3, 4)}, "[1] [5]"},

		{17, N("Shape", "y", "a"), []modeltest.Tensor{six}, "[2] [2 3]"},
		{17, N("Shape", "y", "a").With("start", int64(-1)), []modeltest.Tensor{six}, "[1] [3]"},
		{17, N("Reshape", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{3}, -1, 1, 2)}, "[3 1 2] [1 2 3 4 5 6]"},
		{17, N("Reshape", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, 0, -1)}, "[2 3] [1 2 3 4 5 6]"},
		{17, N("Flatten", "y", "a").With("axis", int64(2)), []modeltest.Tensor{six}, "[6 1] [1 2 3 4 5 6]"},
		{17, N("Transpose", "y", "a"), []modeltest.Tensor{six}, "[3 2] [1 4 2 5 3 6]"},
		{17, N("Transpose", "y", "a").With("perm", []int64{1, 0, 2}), []modeltest.Tensor{F("a", dims{1, 2, 2}, 1, 2, 3, 4)}, "[2 1 2] [1 2 3 4]"},
		{11, N("Unsqueeze", "y", "a").With("axes", []int64{0, 3}), []modeltest.Tensor{six}, "[1 2 3 1] [1 2 3 4 5 6]"},
		{13, N("Unsqueeze", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1}, -1)}, "[2 3 1] [1 2 3 4 5 6]"},
		{13, N("Squeeze", "y", "a"), []modeltest.Tensor{F("a", dims{1, 2, 1}, 1, 2)}, "[2] [1 2]"},
		{11, N("Squeeze", "y", "a").With("axes", []int64{0}), []modeltest.Tensor{F("a", dims{1, 2, 1}, 1, 2)}, "[2 1] [1 2]"},
		{17, N("Expand", "y", "a", "b"), []modeltest.Tensor{F("a", dims{2, 1}, 1, 2), I("b", dims{2}, 1, 3)}, "[2 3] [1 1 1 2 2 2]"},
		{17, N("ConstantOfShape", "y", "a").With("value", I("", dims{1}, 7)), []modeltest.Tensor{I("a", dims{2}, 1, 2)}, "[1 2] [7 7]"},
		{17, N("ConstantOfShape", "y", "a"), []modeltest.Tensor{I("a", dims{1}, 2)}, "[2] [0 0]"},
		{17, N("Tile", "y", "a", "b"), []modeltest.Tensor{F("a", dims{1, 2}, 1, 2), I("b", dims{2}, 2, 2)}, "[2 4] [1 2 1 2 1 2 1 2]"},
		{17, N("Range", "y", "a", "b", "c"), []modeltest.Tensor{I("a", nil, 3), I("b", nil, 10), I("c", nil, 3)}, "[3] [3 6 9]"},
		{17, N("Range", "y", "a", "b", "c"), []modeltest.Tensor{I("a", nil, 3), I("b", nil, 0), I("c", nil, -2)}, "[2] [3 1]"},

		{17, N("Gather", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1, 3}, 1, 0, -1)}, "[1 3 3] [4 5 6 1 2 3 4 5 6]"},
		{17, N("Gather", "y", "a", "b").With("axis", int64(1)), []modeltest.Tensor{six, I("b", nil, 2)}, "[2] [3 6]"},
		{17, N("GatherElements", "y", "a", "b").With("axis", int64(1)), []modeltest.Tensor{six, I("b", dims{2, 2}, 0, 2, 1, -1)}, "[2 2] [1 3 5 6]"},
		{17, N("Concat", "y", "a", "b").With("axis", int64(-1)), []modeltest.Tensor{six, F("b", dims{2, 1}, 7, 8)}, "[2 4] [1 2 3 7 4 5 6 8]"},
		{17, N("Slice", "y", "a", "b", "c", "d", "e"), []modeltest.Tensor{six, I("b", dims{2}, 1, -1), I("c", dims{2}, 9, -99), I("d", dims{2}, 0, 1), I("e", dims{2}, 1, -2)}, "[1 2] [6 4]"},
		{9, N("Slice", "y", "a").With("starts", []int64{0}).With("ends", []int64{-1}).With("axes", []int64{1}), []modeltest.Tensor{six}, "[2 2] [1 2 4 5]"},
		{17, N("Slice", "y", "a", "b", "c"), []modeltest.Tensor{six, I("b", dims{1}, 2), I("c", dims{1}, 2)}, "[0 3] []"},
		{17, modeltest.Node{Op: "Split", In: []string{"a"}, Out: []string{"y", "z"}}, []modeltest.Tensor{ints}, "[2] [5 -3]"},
		{17, modeltest.Node{Op: "Split", In: []string{"a", "b"}, Out: []string{"y", "z"}}, []modeltest.Tensor{ints, I("b", dims{2}, 1, 3)}, "[1] [5]"},
		{17, N("Constant", "y").With("value", I("", dims{2}, 4, 5)), nil, "[2] [4 5]"},
		{17, N("Constant", "y").With("value_ints", []int64{4, 5}), nil, "[2] [4 5]"},
		{17, N("Constant", "y").With("value_int", int64(4)), nil, "[] [4]"},
		{17, N("Constant", "y").With("value_float", float32(0.5)), nil, "[] [0.5]"},
		{17, N("Identity", "y", "a"), []modeltest.Tensor{ints}, "[4] [5 -3 7 0]"},
		{17, N("Dropout", "y", "a"), []modeltest.Tensor{ints}, "[4] [5 -3 7 0]"},
	} {
		got, err := step(t, c.opset, c.node, c.in...)
		if err != nil {
			t.Errorf("%s %v: %v", c.node.Op, c.node.Attrs, err)
			continue
		}
		if got := says(got); got != c.want {
			t.Errorf("%s %v makes %s, want %s", c.node.Op, c.node.Attrs, got, c.want)
		}
	}
}

func TestTruthsAreCombined(t *testing.T) {
	t.Parallel()
	m := parse(t, modeltest.Model{
		Weights: []modeltest.Tensor{I("a", dims{3}, 1, 2, 3), I("two", nil, 2), F("yes", dims{2, 1}, 1, 2), F("no", nil, 9)},
		Nodes: []modeltest.Node{
			N("Less", "less", "a", "two"), N("Greater", "more", "a", "two"), N("Or", "other", "less", "more"),
			N("Not", "same", "other"), N("And", "never", "less", "more"), N("Where", "y", "same", "yes", "no"),
		},
		Out: []string{"y", "never"},
	})
	out, err := m.RunBare(t.Context(), 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := says(out["y"]); got != "[2 3] [9 1 9 9 2 9]" {
		t.Errorf("where: %s", got)
	}
	if got := says(out["never"]); got != "[3] [0 0 0]" {
		t.Errorf("and: %s", got)
	}
}

// What an operator cannot do with its inputs it says, and does not end.
func TestInputsThatDoNotFitAreAnError(t *testing.T) {
	t.Parallel()
	six := F("a", dims{2, 3}, 1, 2, 3, 4, 5, 6)
	huge := I("b", dims{3}, 1<<20, 1<<20, 1<<20)
	for _, c := range []struct {
		node modeltest.Node
		in   []modeltest.Tensor
	}{
		{N("Add", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{2}, 1, 2)}},
		{N("Add", "y", "a", "b"), []modeltest.Tensor{six, I("b", nil, 1)}},
		{N("MatMul", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{2, 1}, 1, 2)}},
		{N("MatMul", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{3}, 1, 2, 3)}},
		{N("Gather", "y", "a", "b"), []modeltest.Tensor{six, I("b", nil, 2)}},
		{N("Gather", "y", "a", "b"), []modeltest.Tensor{six, I("b", nil, -3)}},
		{N("Gather", "y", "a", "b").With("axis", int64(2)), []modeltest.Tensor{six, I("b", nil, 0)}},
		{N("GatherElements", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1, 1}, 5)}},
		{N("Reshape", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1}, 5)}},
		{N("Reshape", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, -1, -1)}},
		{N("Reshape", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, math.MaxInt64, 2)}},
		{N("Expand", "y", "a", "b"), []modeltest.Tensor{F("a", nil, 1), huge}},
		{N("Tile", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, 1<<30, 1<<30)}},
		{N("Tile", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, 1000, 1000)}},
		{N("ConstantOfShape", "y", "b"), []modeltest.Tensor{huge}},
		{N("ConstantOfShape", "y", "b"), []modeltest.Tensor{I("b", dims{1}, -1)}},
		{N("Range", "y", "a", "b", "c"), []modeltest.Tensor{I("a", nil, 0), I("b", nil, math.MaxInt64), I("c", nil, 1)}},
		{N("Range", "y", "a", "b", "c"), []modeltest.Tensor{I("a", nil, 0), I("b", nil, 5), I("c", nil, 0)}},
		{N("Slice", "y", "a", "b", "c", "", "d"), []modeltest.Tensor{six, I("b", dims{1}, 0), I("c", dims{1}, 1), I("d", dims{1}, 0)}},
		{N("Slice", "y", "a", "b", "c"), []modeltest.Tensor{six, I("b", dims{1}, 0), I("c", dims{2}, 1, 1)}},
		{N("Split", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1}, 3)}},
		{N("Transpose", "y", "a").With("perm", []int64{0, 0}), []modeltest.Tensor{six}},
		{N("Unsqueeze", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{2}, 0, 0)}},
		{N("Squeeze", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1}, 0)}},
		{N("Concat", "y", "a", "b").With("axis", int64(0)), []modeltest.Tensor{six, F("b", dims{1, 2}, 1, 2)}},
		{N("LayerNormalization", "y", "a", "b"), []modeltest.Tensor{six, F("b", dims{2}, 1, 1)}},
		{N("Softmax", "y", "a").With("axis", int64(0)), []modeltest.Tensor{six}},
		{N("ReduceSum", "y", "a", "b"), []modeltest.Tensor{six, I("b", dims{1}, 7)}},
		{N("Cast", "y", "a").With("to", int64(99)), []modeltest.Tensor{six}},
		{N("CumSum", "y", "a", "b"), []modeltest.Tensor{six, I("b", nil, 0)}},
		{N("Not", "y", "a"), []modeltest.Tensor{six}},
		{N("Sqrt", "y", "b"), []modeltest.Tensor{huge}},
		{N("Constant", "y").With("value_string", "a"), nil},
		{N("Relu", "y", ""), nil},
		{N("Max", "y", ""), nil},
		{N("Concat", "y", "", ""), nil},
	} {
		got, err := step(t, 17, c.node, c.in...)
		if _, ok := errors.AsType[*onnx.ModelError](err); !ok {
			t.Errorf("%s %v: %v, %v", c.node.Op, c.node.Attrs, got, err)
		}
	}
}

// Every number of rows, columns and terms goes another way through the product.
func TestProductsOfAllSizesAreRight(t *testing.T) {
	t.Parallel()
	for _, size := range [][3]int{{1, 1, 1}, {1, 3, 5}, {2, 4, 4}, {3, 5, 6}, {5, 9, 7}, {2, 0, 3}} {
		rows, inner, columns := size[0], size[1], size[2]
		a, b := make([]float32, rows*inner), make([]float32, inner*columns)
		for i := range a {
			a[i] = float32(i%7) - 3
		}
		for i := range b {
			b[i] = float32(i%5) - 2
		}
		want := make([]float32, rows*columns)
		for i := range rows {
			for j := range columns {
				for k := range inner {
					want[i*columns+j] += a[i*inner+k] * b[k*columns+j]
				}
			}
		}
		got, err := step(t, 17, N("MatMul", "y", "a", "b"), F("a", dims{int64(rows), int64(inner)}, a...), F("b", dims{int64(inner), int64(columns)}, b...))
		if err != nil || !slices.Equal(got.Floats, want) {
			t.Errorf("%v: %v, %v, want %v", size, got, err, want)
		}
	}
}
