//go:build !onnx

package embed

func openModel(string) (Embedder, error) {
	return nil, &SettingError{`names a model, and this program was built without; "go build -tags onnx ./cmd/cairn" builds one with`}
}
