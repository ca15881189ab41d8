package onnx

import "context"

// RunBare is Run without its last resort, a panic is one, and with the room
// that is given.
func (m *Model) RunBare(ctx context.Context, room int, in map[string]*Tensor) (map[string]*Tensor, error) {
	return m.run(&run{ctx: ctx, opset: m.opset, room: room}, in)
}
