package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Model can be run any number of times, also at once.
type Model struct {
	nodes  []*node
	fixed  map[string]*Tensor // weights, and what else does not depend on the input
	inputs []Input
	output []string
	opset  int64
}

// An Input is what a model wants to be given.
type Input struct {
	Name string
	Kind Kind
}

// maxWeights is how many bytes weights may take in memory.
const maxWeights = 2 << 30

// Parse reads a model. The bytes are not needed afterwards. Errors:
// *ModelError.
func Parse(file []byte) (*Model, error) {
	g, opset, err := parse(file)
	if err != nil {
		return nil, err
	}
	m := &Model{fixed: map[string]*Tensor{}, opset: opset}
	known := operators()
	for _, n := range g.nodes {
		if err := n.admit(known); err != nil {
			return nil, err
		}
	}
	if err := m.load(g); err != nil {
		return nil, err
	}
	if err := m.connect(g); err != nil {
		return nil, err
	}
	m.pack()
	m.plan()
	return m, nil
}

// admit refuses steps that cannot be run.
func (n *node) admit(all map[string]operator) error {
	o, known := all[n.op]
	if n.domain != "" && n.domain != "ai.onnx" {
		return &ModelError{n.title(), fmt.Sprintf("is of the operators of %q, which are not known", n.domain)}
	}
	for _, a := range n.attrs {
		known = known && !a.graph
	}
	switch {
	case !known:
		return &ModelError{n.title(), "is an operator that is not known"}
	case len(n.in) < o.least || len(n.in) > o.most:
		return &ModelError{n.title(), fmt.Sprintf("has %d inputs", len(n.in))}
	case len(n.out) == 0:
		return &ModelError{n.title(), "has no output"}
	}
	n.do = o.do
	return nil
}

// load takes in the weights, those of constant steps and of settings among
// them, so that nothing refers to the file any more.
func (m *Model) load(g *graph) error {
	total := 0
	read := func(s *stored) (*Tensor, error) {
		t, err := s.tensor()
		if err == errWire {
			return nil, faulty("has weights that are cut off")
		}
		if err != nil {
			return nil, err
		}
		if total += t.bytes(); total > maxWeights {
			return nil, faulty("has weights of more than %d bytes", maxWeights)
		}
		return t, nil
	}
	for i := range g.weights {
		t, err := read(&g.weights[i])
		if err != nil {
			return err
		}
		m.fixed[g.weights[i].name] = t
	}
	for _, n := range g.nodes {
		if err := n.load(read); err != nil {
			return err
		}
		if n.op != "Constant" {
			m.nodes = append(m.nodes, n)
			continue
		}
		t, err := constant(n)
		if err != nil {
			return err
		}
		m.fixed[n.out[0]] = t
	}
	return nil
}

func (n *node) load(read func(*stored) (*Tensor, error)) error {
	for name, a := range n.attrs {
		if a.tensor == nil {
			continue
		}
		t, err := read(a.tensor)
		if err != nil {
			return err
		}
		a.tensor, a.value = nil, t
		n.attrs[name] = a
	}
	return nil
}

// constant is what such a step gives.
func constant(n *node) (*Tensor, error) {
	if t := n.attrs["value"].value; t != nil {
		return t, nil
	}
	if a, ok := n.attrs["value_int"]; ok {
		return Ints([]int64{a.int}), nil
	}
	if a, ok := n.attrs["value_ints"]; ok {
		return Ints(a.ints, len(a.ints)), nil
	}
	if a, ok := n.attrs["value_float"]; ok {
		return &Tensor{Floats: []float32{a.number}}, nil
	}
	return nil, &ModelError{n.title(), "has a value of a kind that is not known"}
}

// connect sees to it that each step comes after those that it needs.
func (m *Model) connect(g *graph) error {
	known := map[string]bool{}
	for name := range m.fixed {
		known[name] = true
	}
	for _, p := range g.in {
		if known[p.name] {
			continue // older models list their weights as inputs with a default
		}
		kind, ok := kindOf(p.kind)
		if !ok {
			return faulty("takes %q of element type %d, which is not known", p.name, p.kind)
		}
		known[p.name] = true
		m.inputs = append(m.inputs, Input{p.name, kind})
	}
	for _, n := range m.nodes {
		for _, in := range n.in {
			if in != "" && !known[in] {
				return &ModelError{n.title(), fmt.Sprintf("needs %q, which no step before it gives", in)}
			}
		}
		for _, out := range n.out {
			if out != "" && known[out] {
				return &ModelError{n.title(), fmt.Sprintf("gives %q, which is there already", out)}
			}
			known[out] = true
		}
	}
	for _, p := range g.out {
		if !known[p.name] || p.name == "" {
			return faulty("should give %q, and no step does", p.name)
		}
		m.output = append(m.output, p.name)
	}
	if len(m.output) == 0 {
		return faulty("gives nothing")
	}
	return nil
}

// pack lays out the constant sides of products for the computation.
func (m *Model) pack() {
	uses := map[string]int{}
	for _, n := range m.nodes {
		for _, in := range n.in {
			uses[in]++
		}
	}
	for _, n := range m.nodes {
		if n.op != "MatMul" {
			continue
		}
		right, ok := m.fixed[n.in[1]]
		if !ok || right.Kind != Float || len(right.Shape) != 2 || uses[n.in[1]] > 1 || slices.Contains(m.output, n.in[1]) {
			continue
		}
		n.weights = packRight(right.Floats, right.Shape[0], right.Shape[1])
		delete(m.fixed, n.in[1])
		n.in = n.in[:1]
	}
}

// plan notes when each value is used last, so that a run can let go of it.
func (m *Model) plan() {
	seen := map[string]bool{}
	for _, name := range m.output {
		seen[name] = true
	}
	for _, n := range slices.Backward(m.nodes) {
		for _, name := range append(slices.Clone(n.out), n.in...) {
			if name != "" && !seen[name] {
				seen[name] = true
				n.last = append(n.last, name)
			}
		}
	}
}

// Inputs lists what Run wants, in the order of the file.
func (m *Model) Inputs() []Input { return slices.Clone(m.inputs) }

// Outputs lists what Run gives.
func (m *Model) Outputs() []string { return slices.Clone(m.output) }

// Run computes the outputs from the inputs, by name. It changes neither, and
// they may share memory. Errors: *ModelError if the inputs are not the model's or a
// step cannot be taken with them; that of ctx.
func (m *Model) Run(ctx context.Context, in map[string]*Tensor) (out map[string]*Tensor, err error) {
	// A model comes from somebody else, and the steps of one are too many ways
	// to combine for any test: what they overlook must not end the program.
	defer func() {
		if e := recover(); e != nil {
			out, err = nil, faulty("cannot be computed: %v", e)
		}
	}()
	return m.run(&run{ctx: ctx, opset: m.opset, room: maxLive}, in)
}

func (m *Model) run(r *run, in map[string]*Tensor) (map[string]*Tensor, error) {
	values := map[string]*Tensor{}
	for _, i := range m.inputs {
		t := in[i.Name]
		if err := fits(t, i); err != nil {
			return nil, err
		}
		values[i.Name] = t
		r.live += t.bytes()
	}
	for _, n := range m.nodes {
		err := m.step(r, n, values)
		switch {
		case r.ctx.Err() != nil:
			return nil, r.ctx.Err()
		case err != nil:
			return nil, &ModelError{n.title(), err.Error()}
		}
	}
	out := map[string]*Tensor{}
	for _, name := range m.output {
		if out[name] = values[name]; out[name] == nil {
			out[name] = m.fixed[name]
		}
		if out[name] == nil {
			return nil, faulty("should give %q, which its step leaves out", name)
		}
	}
	return out, nil
}

// fits says whether a tensor can be given for an input.
func fits(t *Tensor, i Input) error {
	if t == nil {
		return faulty("needs the input %q", i.Name)
	}
	size, err := sizeOf(t.Shape)
	if err != nil || size != t.size() || t.Kind != i.Kind {
		return faulty("needs other %s for the input %q", i.Kind, i.Name)
	}
	return nil
}

// step takes one step, with values what is there before and after.
func (m *Model) step(r *run, n *node, values map[string]*Tensor) error {
	in := make([]*Tensor, len(n.in))
	for i, name := range n.in {
		if name == "" {
			continue // an optional one
		}
		if in[i] = values[name]; in[i] == nil {
			in[i] = m.fixed[name]
		}
		if in[i] == nil {
			return errors.New("needs an output that an operator does not give")
		}
	}
	r.node = n
	out, err := n.do(r, in)
	if err != nil {
		return err
	}
	for i, t := range out {
		if i < len(n.out) && n.out[i] != "" {
			values[n.out[i]] = t
		}
	}
	for _, name := range n.last {
		if t := values[name]; t != nil {
			delete(values, name)
			r.live -= t.bytes()
		}
	}
	return nil
}
