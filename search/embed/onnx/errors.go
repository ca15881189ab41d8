package onnx

import "fmt"

// A ModelError reports a file that is no model, or one that cannot be run here.
type ModelError struct {
	Node   string // operator and name of the step that is wrong; empty for the model as a whole
	Reason string
}

func (e *ModelError) Error() string {
	if e.Node == "" {
		return "the model " + e.Reason
	}
	return "the model's step " + e.Node + " " + e.Reason
}

func faulty(format string, args ...any) error {
	return &ModelError{Reason: fmt.Sprintf(format, args...)}
}
