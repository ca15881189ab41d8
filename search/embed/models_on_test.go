//go:build onnx

package embed_test

import (
	"testing"

	"cairn/search/embed"
	"cairn/search/embed/modeltest"
)

func TestASourceLoadsAModel(t *testing.T) {
	t.Parallel()
	dir := modeltest.Folder(t, royal)
	s := embed.NewSource("onnx:" + dir)
	by, err := s.Wait(t.Context())
	if err != nil || by.Name() != open(t, dir).Name() || !s.Slow() {
		t.Errorf("%v, %v", by, err)
	}
	broken := embed.NewSource("onnx:" + t.TempDir())
	if by, err := broken.Wait(t.Context()); by != nil || err == nil || broken.Now() != nil {
		t.Errorf("an empty folder makes %v, %v", by, err)
	}
}
