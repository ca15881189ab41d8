package onnx_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"cairn/search/embed/modeltest"
	"cairn/search/embed/onnx"
)

// The sizes of the transformer below.
const (
	vocab  = 11
	hidden = 6
	heads  = 2
	inner  = 10
	length = 5
)

// A layer is one of a transformer as BERT has it, with random weights.
type layer struct{ words, q, k, v, o, up, down, bias []float32 }

func newLayer() layer {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64())
		}
		return out
	}
	square := hidden * hidden
	return layer{random(vocab * hidden), random(square), random(square), random(square), random(square), random(hidden * inner), random(inner * hidden), random(inner)}
}

// model is the layer in the steps in which exporters write it.
func (l layer) model() modeltest.Model {
	split := func(out, in string, perm ...int64) []modeltest.Node {
		return []modeltest.Node{N("Reshape", out+"r", in, "split"), N("Transpose", out, out+"r").With("perm", perm)}
	}
	nodes := []modeltest.Node{
		N("Gather", "x", "words", "input_ids"),
		N("Cast", "m", "attention_mask").With("to", int64(1)), N("Unsqueeze", "mu", "m", "ones"),
		N("Sub", "minus", "one", "mu"), N("Mul", "masked", "minus", "far"),
		N("MatMul", "q", "x", "wq"), N("MatMul", "k", "x", "wk"), N("MatMul", "v", "x", "wv"),
	}
	nodes = append(nodes, split("qh", "q", 0, 2, 1, 3)...)
	nodes = append(nodes, split("kh", "k", 0, 2, 3, 1)...)
	nodes = append(nodes, split("vh", "v", 0, 2, 1, 3)...)
	nodes = append(nodes,
		N("MatMul", "s", "qh", "kh"), N("Div", "sd", "s", "root"), N("Add", "sm", "sd", "masked"), N("Softmax", "p", "sm").With("axis", int64(-1)),
		N("MatMul", "c", "p", "vh"), N("Transpose", "ct", "c").With("perm", []int64{0, 2, 1, 3}), N("Reshape", "cr", "ct", "join"),
		N("MatMul", "o", "cr", "wo"), N("Add", "x1", "o", "x"),
		N("ReduceMean", "mean", "x1").With("axes", []int64{-1}), N("Sub", "d", "x1", "mean"), N("Pow", "d2", "d", "two"),
		N("ReduceMean", "var", "d2").With("axes", []int64{-1}), N("Add", "vare", "var", "eps"), N("Sqrt", "dev", "vare"), N("Div", "x2", "d", "dev"),
		N("MatMul", "up", "x2", "wu"), N("Add", "upb", "bias", "up"),
		N("Div", "er", "upb", "sqrt2"), N("Erf", "erf", "er"), N("Add", "erf1", "erf", "one"), N("Mul", "g", "upb", "erf1"), N("Mul", "gelu", "g", "half"),
		N("MatMul", "down", "gelu", "wd"), N("Add", "x3", "down", "x2"),
		N("LayerNormalization", "last_hidden_state", "x3", "scale").With("epsilon", float32(1e-12)),
	)
	weights := []modeltest.Tensor{
		F("words", dims{vocab, hidden}, l.words...), F("wq", dims{hidden, hidden}, l.q...), F("wk", dims{hidden, hidden}, l.k...),
		F("wv", dims{hidden, hidden}, l.v...), F("wo", dims{hidden, hidden}, l.o...), F("wu", dims{hidden, inner}, l.up...),
		F("wd", dims{inner, hidden}, l.down...), F("bias", dims{inner}, l.bias...), F("scale", dims{hidden}, 1, 1, 1, 1, 1, 1),
		F("one", nil, 1), F("half", nil, 0.5), F("two", nil, 2), F("eps", nil, 1e-12), F("far", nil, -math.MaxFloat32),
		F("root", nil, float32(math.Sqrt(hidden/heads))), F("sqrt2", nil, math.Sqrt2),
		I("ones", dims{2}, 1, 2), I("split", dims{4}, 0, 0, heads, hidden/heads), I("join", dims{3}, 0, 0, hidden),
	}
	return modeltest.Model{Opset: 14, Nodes: nodes, Weights: weights, In: []string{"input_ids", "attention_mask"}, Out: []string{"last_hidden_state"}}
}

type matrix [][]float64

func times(x matrix, w []float32, columns int) matrix {
	out := make(matrix, len(x))
	for i, row := range x {
		out[i] = make([]float64, columns)
		for k, a := range row {
			for j := range columns {
				out[i][j] += a * float64(w[k*columns+j])
			}
		}
	}
	return out
}

func normalized(x matrix) matrix {
	out := make(matrix, len(x))
	for i, row := range x {
		var mean, variance float64
		for _, a := range row {
			mean += a / float64(len(row))
		}
		for _, a := range row {
			variance += (a - mean) * (a - mean) / float64(len(row))
		}
		for _, a := range row {
			out[i] = append(out[i], (a-mean)/math.Sqrt(variance))
		}
	}
	return out
}

func sum(x, y matrix) matrix {
	out := make(matrix, len(x))
	for i := range x {
		for j := range x[i] {
			out[i] = append(out[i], x[i][j]+y[i][j])
		}
	}
	return out
}

// compute is the same by the formulas alone.
func (l layer) compute(ids, mask []int64) matrix {
	x := make(matrix, len(ids))
	for i, id := range ids {
		for _, a := range l.words[id*hidden:][:hidden] {
			x[i] = append(x[i], float64(a))
		}
	}
	q, k, v := times(x, l.q, hidden), times(x, l.k, hidden), times(x, l.v, hidden)
	context := make(matrix, len(ids))
	const size = hidden / heads
	for i := range ids {
		context[i] = make([]float64, hidden)
		for h := range heads {
			part := func(row []float64) []float64 { return row[h*size:][:size] }
			share, total := make([]float64, len(ids)), 0.0
			for j := range ids {
				if mask[j] == 0 {
					continue
				}
				dot := 0.0
				for d := range size {
					dot += part(q[i])[d] * part(k[j])[d]
				}
				share[j] = math.Exp(dot / math.Sqrt(size))
				total += share[j]
			}
			for j := range ids {
				for d := range size {
					part(context[i])[d] += share[j] / total * part(v[j])[d]
				}
			}
		}
	}
	x2 := normalized(sum(times(context, l.o, hidden), x))
	up := times(x2, l.up, inner)
	for i := range up {
		for j := range up[i] {
			y := up[i][j] + float64(l.bias[j])
			up[i][j] = y / 2 * (1 + math.Erf(y/math.Sqrt2))
		}
	}
	return normalized(sum(times(up, l.down, hidden), x2))
}

func TestALayerIsComputedAsItsFormulasSay(t *testing.T) {
	t.Parallel()
	l := newLayer()
	m := parse(t, l.model())
	var wait sync.WaitGroup
	for last := range int64(8) { // at once
		wait.Go(func() {
			ids, mask := []int64{2, 7, 1, 10, last}, []int64{1, 1, 1, 1, last % 2}
			out, err := m.RunBare(t.Context(), 1<<20, map[string]*onnx.Tensor{
				"input_ids": onnx.Ints(ids, 1, length), "attention_mask": onnx.Ints(mask, 1, length),
			})
			if err != nil {
				t.Error(err)
				return
			}
			got := out["last_hidden_state"]
			for i, row := range l.compute(ids, mask) {
				for j, want := range row {
					if x := got.Floats[i*hidden+j]; math.Abs(float64(x)-want) > 1e-4 {
						t.Errorf("the piece %d has %v at %d, want %v", i, x, j, want)
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m := parse(t, modeltest.Model{Nodes: []modeltest.Node{N("Relu", "y", "a")}, Weights: []modeltest.Tensor{F("a", nil, 1)}, Out: []string{"y"}})
	if _, err := m.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestInputsOfAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	m := parse(t, modeltest.Model{Nodes: []modeltest.Node{N("Identity", "y", "x")}, In: []string{"x"}, Out: []string{"y"}})
	for _, in := range []map[string]*onnx.Tensor{
		nil, {"x": {Shape: []int{1}, Floats: []float32{1}}}, {"x": onnx.Ints([]int64{1, 2}, 3)}, {"x": onnx.Ints(nil, -1)},
	} {
		if out, err := m.Run(t.Context(), in); err == nil {
			t.Errorf("%v makes %v", in, out)
		}
	}
}

// A file that is no model, or not one for this package, says what is wrong.
func TestAFileThatCannotBeRunIsRefused(t *testing.T) {
	t.Parallel()
	one := func(change func(*modeltest.Model)) []byte {
		m := modeltest.Model{Nodes: []modeltest.Node{N("Identity", "y", "a")}, Weights: []modeltest.Tensor{F("a", dims{2}, 1, 2)}, Out: []string{"y"}}
		change(&m)
		return m.Bytes()
	}
	// weights is a model whose only tensor is made of these fields.
	weights := func(tensor []byte) []byte {
		graph := modeltest.Message(nil, 5, tensor)
		return modeltest.Message(modeltest.Message(nil, 7, graph), 8, modeltest.Varint(nil, 2, 17))
	}
	declared := func(elem uint64, dims ...uint64) (b []byte) {
		for _, d := range dims {
			b = modeltest.Varint(b, 1, d)
		}
		return modeltest.Text(modeltest.Varint(b, 2, elem), 8, "w")
	}
	external := modeltest.Varint(modeltest.Message(declared(1, 2), 13, nil), 14, 1)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":          {nil, "no graph"},
		"text":             {[]byte("version https://git-lfs.github.com/spec/v1\n"), "cut off"},
		"old opset":        {one(func(m *modeltest.Model) { m.Opset = 6 }), "opset 6"},
		"new opset":        {one(func(m *modeltest.Model) { m.Opset = 99 }), "opset 99"},
		"unknown operator": {one(func(m *modeltest.Model) { m.Nodes[0].Op = "MatMulInteger" }), "MatMulInteger is an operator that is not known"},
		"inputs":           {one(func(m *modeltest.Model) { m.Nodes[0].In = nil }), "has 0 inputs"},
		"no output":        {one(func(m *modeltest.Model) { m.Nodes[0].Out = nil }), "no output"},
		"wrong order":      {one(func(m *modeltest.Model) { m.Nodes[0].In[0] = "later" }), `needs "later"`},
		"twice":            {one(func(m *modeltest.Model) { m.Nodes[0].Out[0] = "a" }), "there already"},
		"gives nothing":    {one(func(m *modeltest.Model) { m.Out = nil }), "gives nothing"},
		"gives another":    {one(func(m *modeltest.Model) { m.Out = []string{"z"} }), `should give "z"`},
		"declares 2 GB":    {weights(declared(1, 1<<29)), "more than"},
		"declares it all":  {weights(declared(1, math.MaxUint64)), "axis of length"},
		"too many axes":    {weights(declared(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), "axes"},
		"overflow":         {weights(declared(1, 1<<31-1, 1<<31-1, 1<<31-1, 1<<31-1)), "more than"},
		"too few":          {weights(modeltest.Message(declared(1, 3), 9, make([]byte, 8))), "declares 3 elements of a tensor and holds 2"},
		"half an element":  {weights(modeltest.Message(declared(1, 2), 9, make([]byte, 7))), "cut off"},
		"elsewhere":        {weights(external), "another file"},
		"element type":     {weights(modeltest.Message(declared(99, 1), 9, make([]byte, 8))), "element type 99"},
		"strange field":    {append(one(func(*modeltest.Model) {}), 0x0f), "cut off"},
	} {
		_, err := onnx.Parse(c.file)
		bad, ok := errors.AsType[*onnx.ModelError](err)
		if !ok || !strings.Contains(bad.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAModelThatIsCutOffIsRefusedAnywhere(t *testing.T) {
	t.Parallel()
	file := newLayer().model().Bytes()
	for n := range len(file) {
		if _, err := onnx.Parse(file[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are a model", n, len(file))
		}
	}
}

// Weights come in several forms that say the same.
func TestWeightsOfEveryFormAreRead(t *testing.T) {
	t.Parallel()
	head := func(elem uint64, n uint64) []byte {
		return modeltest.Text(modeltest.Varint(modeltest.Varint(nil, 1, n), 2, elem), 8, "w")
	}
	packed := func(b []byte, field int, add func([]byte) []byte) []byte {
		return modeltest.Message(b, field, add(nil))
	}
	for name, c := range map[string]struct {
		tensor []byte
		want   string
	}{
		"floats one by one": {binary.LittleEndian.AppendUint32(binary.AppendUvarint(head(1, 1), 4<<3|5), math.Float32bits(1.5)), "[1] [1.5]"},
		"floats":            {packed(head(1, 1), 4, func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, math.Float32bits(1.5)) }), "[1] [1.5]"},
		"doubles":           {packed(head(11, 1), 10, func(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, math.Float64bits(-2)) }), "[1] [-2]"},
		"int64":             {packed(head(7, 2), 7, func(b []byte) []byte { return binary.AppendUvarint(binary.AppendUvarint(b, 3), math.MaxUint64) }), "[2] [3 -1]"},
		"int32":             {modeltest.Varint(head(6, 1), 5, math.MaxUint64), "[1] [-1]"},
		"raw int8":          {modeltest.Message(head(3, 2), 9, []byte{1, 0xff}), "[2] [1 -1]"},
		"raw uint8":         {modeltest.Message(head(2, 2), 9, []byte{1, 0xff}), "[2] [1 255]"},
		"raw truths":        {modeltest.Message(head(9, 2), 9, []byte{0, 2}), "[2] [0 1]"},
		"raw half":          {modeltest.Message(head(10, 5), 9, []byte{0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b, 0, 0xfc}), "[5] [1 -2 5.96e-08 6.55e+04 -Inf]"},
	} {
		node := modeltest.Text(modeltest.Text(modeltest.Text(nil, 1, "w"), 2, "y"), 4, "Identity")
		graph := modeltest.Message(modeltest.Message(modeltest.Message(nil, 1, node), 5, c.tensor), 12, modeltest.Text(nil, 1, "y"))
		m, err := onnx.Parse(modeltest.Message(modeltest.Message(nil, 7, graph), 8, modeltest.Varint(nil, 2, 17)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out, err := m.Run(t.Context(), nil)
		if err != nil || says(out["y"]) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, out["y"], err, c.want)
		}
	}
}
