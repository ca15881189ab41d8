package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"cairn/search/embed/onnx"
	"cairn/search/embed/wordpiece"
)

// A Model is an Embedder that computes the place of a text. That takes from
// milliseconds to seconds.
type Model struct {
	name   string
	stamp  []byte
	model  *onnx.Model
	output string
	cls    bool // the first piece stands for the text, not the middle of all
	tokens *wordpiece.Tokenizer
	limit  int // pieces of a text

	question, note string // what the model wants before each

	asked *questions
}

// maxModelDims is how many numbers a model may give a text.
const maxModelDims = 1024

// OpenModel reads the model in a folder: model.onnx or onnx/model.onnx, with
// tokenizer.json or vocab.txt, and, where they are there, the files of the Sentence
// Transformers library that say how it is meant to be used. It makes
// sure that the model can be run. Errors: *FileError.
func OpenModel(path string) (*Model, error) {
	f := openFolder(path)
	u, err := f.usage()
	if err != nil {
		return nil, err
	}
	m := &Model{cls: u.Pooling.CLS, asked: newQuestions()}
	if m.tokens, err = f.tokenizer(); err != nil {
		return nil, err
	}
	m.limit = u.limit(m.tokens.MaxPieces)
	m.question, m.note = u.prompts()
	file := ""
	if m.model, file, err = f.model(); err != nil {
		return nil, err
	}
	dims, err := m.try()
	if err != nil {
		return nil, &FileError{Path: filepath.Join(path, filepath.FromSlash(file)), Reason: "cannot be used", Err: err}
	}
	m.name = fmt.Sprintf("onnx-%d-%d-%x", modelVersion, dims, f.sum.Sum(nil)[:8])
	m.stamp = stampOf(m.name)
	return m, nil
}

// modelVersion goes up with every change after which the same files make other
// vectors.
const modelVersion = 1

// prompts is what goes before questions and notes. The names are those that
// published models use.
func (u usage) prompts() (question, note string) {
	note = u.Texts.Prompts["document"]
	if note == "" {
		note = u.Texts.Prompts["passage"]
	}
	return u.Texts.Prompts["query"], note
}

// try runs the model once, and says how many numbers it gives.
func (m *Model) try() (dims int, err error) {
	if m.output, err = choose(m.model.Outputs()); err != nil {
		return 0, err
	}
	v, err := m.compute(context.Background(), "a")
	switch {
	case err != nil:
		return 0, err
	case len(v) < minDims || len(v) > maxModelDims:
		return 0, fmt.Errorf("gives %d numbers; between %d and %d can be used", len(v), minDims, maxModelDims)
	}
	return len(v), nil
}

// choose is the output that holds what is wanted: that of the text, else those
// of its pieces.
func choose(outputs []string) (string, error) {
	for _, name := range []string{"sentence_embedding", "last_hidden_state", "token_embeddings"} {
		if slices.Contains(outputs, name) {
			return name, nil
		}
	}
	if len(outputs) != 1 {
		return "", fmt.Errorf("gives %q, of which none is known", outputs)
	}
	return outputs[0], nil
}

// Name is made of what was read, not of where it was read from.
func (m *Model) Name() string { return m.name }

// Embed is the vector of a text, cut at the length that the model takes. One
// that it cannot be computed for has no place.
func (m *Model) Embed(text string) Vector { return m.vector(m.note + cut(text)) }

func (m *Model) vector(text string) Vector {
	numbers, err := m.compute(context.Background(), text)
	if err != nil || slices.ContainsFunc(numbers, notFinite) {
		return newVector(m.stamp, nil)
	}
	return newVector(m.stamp, numbers)
}

func notFinite(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }

// compute is the numbers of a text.
func (m *Model) compute(ctx context.Context, text string) ([]float32, error) {
	pieces := m.tokens.Encode(text, m.limit)
	if len(pieces) == 0 {
		return nil, errors.New("takes no text without words")
	}
	in := map[string]*onnx.Tensor{}
	for _, i := range m.model.Inputs() {
		values := make([]int64, len(pieces))
		switch i.Name {
		case "input_ids":
			values = pieces
		case "attention_mask":
			fill(values, func(int) int64 { return 1 })
		case "position_ids":
			fill(values, func(at int) int64 { return int64(at) })
		case "token_type_ids": // all of one text
		default:
			return nil, fmt.Errorf("takes %q, which is not known", i.Name)
		}
		in[i.Name] = onnx.Ints(values, 1, len(values))
	}
	out, err := m.model.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return m.pool(out[m.output], len(pieces))
}

func fill(values []int64, fn func(int) int64) {
	for i := range values {
		values[i] = fn(i)
	}
}

// pool makes one vector of those of the pieces, unless the model has.
func (m *Model) pool(t *onnx.Tensor, pieces int) ([]float32, error) {
	s := t.Shape
	if t.Kind != onnx.Float || len(s) < 2 || len(s) > 3 || s[0] != 1 || len(s) == 3 && s[1] != pieces {
		return nil, fmt.Errorf("gives %s of the shape %v for %d pieces of a text", t.Kind, s, pieces)
	}
	dims := s[len(s)-1]
	if len(s) == 2 || m.cls {
		return t.Floats[:dims], nil
	}
	sum := make([]float32, dims)
	for at := 0; at < len(t.Floats); at += dims {
		for i, x := range t.Floats[at:][:dims] {
			sum[i] += x // by how many makes no difference to the direction
		}
	}
	return sum, nil
}
