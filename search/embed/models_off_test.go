//go:build !onnx

package embed_test

import (
	"errors"
	"strings"
	"testing"

	"cairn/search/embed"
	"cairn/search/embed/modeltest"
)

func TestWithoutModelsTheSettingSaysHowToBuild(t *testing.T) {
	t.Parallel()
	s := embed.NewSource("onnx:" + modeltest.Folder(t, royal))
	by, err := s.Wait(t.Context())
	if _, ok := errors.AsType[*embed.SettingError](err); !ok || by != nil || s.Now() != nil || !strings.Contains(err.Error(), "-tags onnx") {
		t.Errorf("%v, %v", by, err)
	}
}
