package modeltest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// specials are the pieces at the beginning of a vocabulary.
var specials = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}

// Words is a model that gives each word the vector that is given, and every
// other piece none.
func Words(words map[string][]float32) (m Model, vocab []string) {
	vocab = append(slices.Clone(specials), slices.Sorted(maps.Keys(words))...)
	dims := 0
	for _, v := range words {
		dims = len(v)
	}
	var table []float32
	for _, piece := range vocab {
		if v, ok := words[piece]; ok {
			table = append(table, v...)
		} else {
			table = append(table, make([]float32, dims)...)
		}
	}
	return Model{
		Nodes:   []Node{N("Gather", "last_hidden_state", "words", "input_ids")},
		Weights: []Tensor{F("words", []int64{int64(len(vocab)), int64(dims)}, table...)},
		In:      []string{"input_ids", "attention_mask", "token_type_ids"},
		Out:     []string{"last_hidden_state"},
	}, vocab
}

// Folder writes the model of Words as Hugging Face lays one out, and is the
// path of it.
func Folder(t testing.TB, words map[string][]float32) string {
	t.Helper()
	m, vocab := Words(words)
	dir := t.TempDir()
	Write(t, dir, "model.onnx", string(m.Bytes()))
	Write(t, dir, "vocab.txt", strings.Join(vocab, "\n")+"\n")
	return dir
}

// Write writes a file of a folder.
func Write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
