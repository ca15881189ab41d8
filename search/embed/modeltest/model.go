package modeltest

import (
	"encoding/binary"
	"math"
)

// A Model is a graph of operators as the ONNX format has it.
type Model struct {
	Opset   int64 // 17 if it is 0
	Nodes   []Node
	Weights []Tensor
	In      []string // of 64-bit integers
	Out     []string
}

// A Node is one operator.
type Node struct {
	Op      string
	In, Out []string
	Attrs   []Attr
}

// An Attr is a setting of a Node. Its kind is that of its value: int64,
// float32, string, []int64 or Tensor.
type Attr struct {
	Name  string
	Value any
}

// A Tensor is weights.
type Tensor struct {
	Name   string
	Dims   []int64
	Floats []float32
	Ints   []int64 // if Floats is nil
}

// N is a Node with one output.
func N(op, out string, in ...string) Node { return Node{Op: op, In: in, Out: []string{out}} }

// With is the Node with one more attribute.
func (n Node) With(name string, value any) Node {
	n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], Attr{name, value})
	return n
}

// F is a Tensor of numbers.
func F(name string, dims []int64, values ...float32) Tensor {
	return Tensor{Name: name, Dims: dims, Floats: values}
}

// I is a Tensor of integers.
func I(name string, dims []int64, values ...int64) Tensor {
	return Tensor{Name: name, Dims: dims, Ints: values}
}

// The element types that are written.
const (
	elemFloat = 1
	elemInt64 = 7
)

// Bytes is the file.
func (m Model) Bytes() []byte {
	opset := m.Opset
	if opset == 0 {
		opset = 17
	}
	var graph []byte
	for _, n := range m.Nodes {
		graph = Message(graph, 1, n.bytes())
	}
	for _, w := range m.Weights {
		graph = Message(graph, 5, w.Bytes())
	}
	for _, name := range m.In {
		graph = Message(graph, 11, port(name, elemInt64))
	}
	for _, name := range m.Out {
		graph = Message(graph, 12, port(name, elemFloat))
	}
	return Message(Message(Varint(nil, 1, 8), 7, graph), 8, Varint(nil, 2, uint64(opset)))
}

func port(name string, elem uint64) []byte {
	return Message(Text(nil, 1, name), 2, Message(nil, 1, Varint(nil, 1, elem)))
}

func (n Node) bytes() (b []byte) {
	for _, in := range n.In {
		b = Text(b, 1, in)
	}
	for _, out := range n.Out {
		b = Text(b, 2, out)
	}
	b = Text(b, 4, n.Op)
	for _, a := range n.Attrs {
		b = Message(b, 5, a.bytes())
	}
	return b
}

func (a Attr) bytes() []byte {
	b := Text(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case int64:
		return Varint(b, 3, uint64(v))
	case float32:
		return binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, 2<<3|5), math.Float32bits(v))
	case string:
		return Text(b, 4, v)
	case []int64:
		for _, x := range v {
			b = Varint(b, 8, uint64(x))
		}
		return b
	case Tensor:
		return Message(b, 5, v.Bytes())
	}
	panic("modeltest: an attribute of no known kind")
}

// Bytes is the tensor as the format has it.
func (t Tensor) Bytes() (b []byte) {
	for _, d := range t.Dims {
		b = Varint(b, 1, uint64(d))
	}
	var raw []byte
	elem := uint64(elemFloat)
	for _, x := range t.Floats {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	if t.Floats == nil {
		elem = elemInt64
		for _, x := range t.Ints {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		}
	}
	return Message(Text(Varint(b, 2, elem), 8, t.Name), 9, raw)
}

// Varint appends a field of a Protocol Buffers message.
func Varint(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

// Message appends a field that holds a message, or any bytes.
func Message(b []byte, field int, v []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v))), v...)
}

// Text appends a field of text.
func Text(b []byte, field int, s string) []byte { return Message(b, field, []byte(s)) }
