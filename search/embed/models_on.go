//go:build onnx

package embed

func openModel(path string) (Embedder, error) {
	m, err := OpenModel(path)
	if err != nil {
		return nil, err
	}
	return m, nil
}
