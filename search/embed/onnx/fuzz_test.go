package onnx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/search/embed/modeltest"
	"cairn/search/embed/onnx"
)

// FuzzModel changes whole files; most changes make none of them a model.
func FuzzModel(f *testing.F) {
	f.Add(newLayer().model().Bytes())
	words, _ := modeltest.Words(map[string][]float32{"car": {1, 0}})
	f.Add(words.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		if m, err := onnx.Parse(file); err == nil {
			computes(t, m)
		} else if _, ok := errors.AsType[*onnx.ModelError](err); !ok {
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}

// computes runs a model with little room and time. It may fail, and no more.
func computes(t *testing.T, m *onnx.Model) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	in := map[string]*onnx.Tensor{}
	for _, i := range m.Inputs() {
		in[i.Name] = onnx.Ints([]int64{1, 0, 2}, 1, 3)
		in[i.Name].Kind = i.Kind
		if i.Kind == onnx.Float {
			in[i.Name] = &onnx.Tensor{Shape: []int{1, 3}, Floats: []float32{1, -1, 0.5}}
		}
	}
	out, err := m.RunBare(ctx, 1<<20, in)
	for name, x := range out {
		if size(x.Shape) != len(x.Floats)+len(x.Ints) {
			t.Fatalf("%s has the shape %v and %d elements", name, x.Shape, len(x.Floats)+len(x.Ints))
		}
	}
	_, bad := errors.AsType[*onnx.ModelError](err)
	if err != nil && !bad && ctx.Err() == nil {
		t.Fatalf("an error of another kind: %v", err)
	}
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// names are the operators that FuzzStep goes through.
var names = []string{
	"Abs", "Ceil", "Cos", "Erf", "Exp", "Gelu", "Log", "Neg", "Relu", "Sqrt", "Add", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Sum",
	"And", "Equal", "Greater", "IsNaN", "Not", "Or", "Where", "Cast", "Clip", "CumSum", "Dropout", "Gemm", "LayerNormalization", "MatMul",
	"Softmax", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceSum", "Concat", "ConstantOfShape", "Expand", "Flatten", "Gather", "GatherElements",
	"Identity", "Range", "Reshape", "Shape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
}

// FuzzStep makes a valid model of two steps around whatever inputs: a byte for
// each choice.
func FuzzStep(f *testing.F) {
	f.Add([]byte{20, 2, 1, 2, 3, 0, 0, 2, 1, 2, 1, 1, 0, 1})
	f.Add([]byte{48, 4, 1, 2, 3, 1, 1, 2, 0, 255, 1, 1, 1, 0, 1, 1, 2, 1, 1, 255})
	f.Fuzz(func(t *testing.T, choices []byte) {
		next := func() int {
			if len(choices) == 0 {
				return 0
			}
			c := choices[0]
			choices = choices[1:]
			return int(int8(c))
		}
		var m modeltest.Model
		m.Opset = int64(7 + uint(next())%17)
		inputs := []string{"", "x"}
		for _, name := range []string{"a", "b", "c", "d"} {
			m.Weights = append(m.Weights, tensor(name, next))
			inputs = append(inputs, name)
		}
		for _, out := range []string{"y", "z"} {
			n := modeltest.Node{Op: names[uint(next())%uint(len(names))], Out: []string{out, out + "2"}}
			for range uint(next()) % 6 {
				n.In = append(n.In, inputs[uint(next())%uint(len(inputs))])
			}
			for _, attr := range []string{"axis", "keepdims", "to", "transA", "fmod", "start"} {
				if v := next(); v > 0 {
					n = n.With(attr, int64(v-64))
				}
			}
			for _, attr := range []string{"axes", "perm", "starts", "ends", "split"} {
				if v := next(); v > 64 {
					n = n.With(attr, []int64{int64(next()), int64(next())})
				}
			}
			m.Nodes = append(m.Nodes, n)
			inputs = append(inputs, out)
		}
		m.In, m.Out = []string{"x"}, []string{"z"}
		if parsed, err := onnx.Parse(m.Bytes()); err == nil {
			computes(t, parsed)
		}
	})
}

func tensor(name string, next func() int) modeltest.Tensor {
	out := modeltest.Tensor{Name: name}
	n := 1
	for range uint(next()) % 4 {
		d := int(uint(next()) % 4)
		out.Dims = append(out.Dims, int64(d))
		n *= d
	}
	if next()&1 == 0 {
		out.Floats = make([]float32, n)
		for i := range out.Floats {
			out.Floats[i] = float32(next())
		}
		return out
	}
	for range n {
		out.Ints = append(out.Ints, int64(next()))
	}
	return out
}
