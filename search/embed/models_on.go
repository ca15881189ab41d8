//go:build onnx

package embed

import "runtime/debug"

func openModel(path string) (Embedder, error) {
	// The file and the weights as they lie in it, twice what is kept, are of no
	// use any more, and an agent lives long.
	defer debug.FreeOSMemory()
	m, err := OpenModel(path)
	if err != nil {
		return nil, err
	}
	return m, nil
}
