package onnx

// A node is one step of a model.
type node struct {
	op, name, domain string
	in, out          []string
	attrs            map[string]attribute

	do      op
	last    []string // values that no later step needs
	weights *packed  // the constant right side of a product, as it is computed with
}

// title is what errors call it.
func (n *node) title() string {
	if n.name == "" {
		return n.op
	}
	return n.op + " " + n.name
}

// An attribute is a setting of a node, in whichever of the fields it has.
type attribute struct {
	number float32
	int    int64
	text   string
	ints   []int64
	tensor *stored
	value  *Tensor // of tensor, once it is loaded
	graph  bool
}

// A port is a value that goes in or out of a model.
type port struct {
	name string
	kind int64 // element type
}

// graph is a model as the file has it.
type graph struct {
	nodes   []*node
	weights []stored
	in, out []port
}

// The oldest and the newest opset whose operators are understood.
const (
	minOpset = 7
	maxOpset = 23
	maxNodes = 100_000
	maxPorts = 1000
)

// parse reads a ModelProto.
func parse(file []byte) (g *graph, opset int64, err error) {
	err = fields(file, func(f field) error {
		switch f.number {
		case 7:
			g = &graph{}
			return g.parse(f)
		case 8:
			domain, version, err := parseOpset(f)
			if domain == "" || domain == "ai.onnx" {
				opset = version
			}
			return err
		}
		return nil
	})
	switch {
	case err == errWire:
		return nil, 0, faulty("%v", err)
	case err != nil:
		return nil, 0, err
	case g == nil || opset == 0:
		return nil, 0, faulty("holds no graph of operators")
	case opset < minOpset || opset > maxOpset:
		return nil, 0, faulty("needs opset %d; those from %d to %d are known", opset, minOpset, maxOpset)
	}
	return g, opset, nil
}

func parseOpset(f field) (domain string, version int64, err error) {
	err = fields(f.bytes, func(f field) error {
		switch f.number {
		case 1:
			domain = string(f.bytes)
		case 2:
			version = int64(f.value)
		}
		return nil
	})
	return domain, version, err
}

func (g *graph) parse(f field) error {
	if err := f.expect(wireBytes); err != nil {
		return err
	}
	return fields(f.bytes, func(f field) error {
		switch f.number {
		case 1:
			if len(g.nodes) == maxNodes {
				return faulty("has more than %d steps", maxNodes)
			}
			n, err := parseNode(f.bytes)
			g.nodes = append(g.nodes, n)
			return err
		case 5:
			if len(g.weights) == maxNodes {
				return faulty("has more than %d tensors of weights", maxNodes)
			}
			s, err := parseStored(f.bytes)
			g.weights = append(g.weights, s)
			return err
		case 11, 12:
			if len(g.in)+len(g.out) == maxPorts {
				return faulty("takes and gives more than %d values", maxPorts)
			}
			p, err := parsePort(f.bytes)
			if f.number == 11 {
				g.in = append(g.in, p)
			} else {
				g.out = append(g.out, p)
			}
			return err
		}
		return nil
	})
}

func parseNode(b []byte) (*node, error) {
	n := &node{attrs: map[string]attribute{}}
	err := fields(b, func(f field) error {
		switch f.number {
		case 1:
			n.in = append(n.in, string(f.bytes))
		case 2:
			n.out = append(n.out, string(f.bytes))
		case 3:
			n.name = string(f.bytes)
		case 4:
			n.op = string(f.bytes)
		case 5:
			name, a, err := parseAttribute(f.bytes)
			n.attrs[name] = a
			return err
		case 7:
			n.domain = string(f.bytes)
		}
		return nil
	})
	return n, err
}

func parseAttribute(b []byte) (name string, a attribute, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			name = string(f.bytes)
		case 2:
			a.number = floatOf(typeFloat, f.value)
		case 3:
			a.int = int64(f.value)
		case 4:
			a.text = string(f.bytes)
		case 5:
			s, err := parseStored(f.bytes)
			a.tensor = &s
			return err
		case 8:
			return f.each(wireVarint, func(v uint64) { a.ints = append(a.ints, int64(v)) })
		case 6, 11: // a graph inside the graph
			a.graph = true
		}
		return nil
	})
	return name, a, err
}

// parsePort reads a ValueInfoProto: its name, and of its type the elements'.
func parsePort(b []byte) (p port, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			p.name = string(f.bytes)
		case 2: // TypeProto: tensor_type, elem_type
			return fields(f.bytes, func(f field) error {
				if f.number != 1 {
					return nil
				}
				return fields(f.bytes, func(f field) error {
					if f.number == 1 {
						p.kind = int64(f.value)
					}
					return nil
				})
			})
		}
		return nil
	})
	return p, err
}
