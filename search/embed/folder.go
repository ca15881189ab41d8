package embed

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cairn/search/embed/onnx"
	"cairn/search/embed/wordpiece"
)

// The most that is read of a file of a model, in bytes.
const (
	maxModelFile = 1 << 30
	maxTextFile  = 64 << 20
)

// A folder is where a model and what belongs to it lie, as Hugging Face lays
// them out.
type folder struct {
	path string
	sum  hash.Hash // of the names and contents of what was read
}

func openFolder(path string) *folder { return &folder{path, sha256.New()} }

func (f *folder) fault(name string, err error) error {
	return &FileError{Path: filepath.Join(f.path, filepath.FromSlash(name)), Reason: "cannot be used", Err: err}
}

// read is the first of several files that is there, and its name. Errors:
// *FileError, around fs.ErrNotExist if none is.
func (f *folder) read(limit int64, names ...string) (data []byte, name string, err error) {
	for _, name := range names {
		data, err := readFile(filepath.Join(f.path, filepath.FromSlash(name)), limit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, name, f.fault(name, err)
		}
		fmt.Fprintf(f.sum, "%s %d ", name, len(data))
		f.sum.Write(data)
		return data, name, nil
	}
	return nil, names[0], f.fault(names[0], fs.ErrNotExist)
}

// readFile takes memory for what a file holds, and reads no more of it than
// limit.
func readFile(path string, limit int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is no file")
	case info.Size() > limit:
		return nil, fmt.Errorf("is larger than %d bytes", limit)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(in, data)
	return data, err
}

// settings reads a JSON file into out, if there is one of these names.
func (f *folder) settings(out any, names ...string) error {
	data, name, err := f.read(maxTextFile, names...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = json.Unmarshal(data, out); err != nil {
			err = f.fault(name, err)
		}
	}
	return err
}

func (f *folder) tokenizer() (*wordpiece.Tokenizer, error) {
	data, name, err := f.read(maxTextFile, "tokenizer.json")
	if errors.Is(err, fs.ErrNotExist) {
		return f.vocab()
	}
	if err != nil {
		return nil, err
	}
	t, err := wordpiece.Parse(data)
	if err != nil {
		return nil, f.fault(name, err)
	}
	return t, nil
}

func (f *folder) vocab() (*wordpiece.Tokenizer, error) {
	var settings struct {
		Lower *bool `json:"do_lower_case"`
	}
	if err := f.settings(&settings, "tokenizer_config.json"); err != nil {
		return nil, err
	}
	data, name, err := f.read(maxTextFile, "vocab.txt")
	if err != nil {
		return nil, err
	}
	t, err := wordpiece.ParseVocab(data, settings.Lower == nil || *settings.Lower)
	if err != nil {
		return nil, f.fault(name, err)
	}
	return t, nil
}

func (f *folder) model() (*onnx.Model, string, error) {
	data, name, err := f.read(maxModelFile, "model.onnx", "onnx/model.onnx")
	if err != nil {
		return nil, name, err
	}
	m, err := onnx.Parse(data)
	if err != nil {
		return nil, name, f.fault(name, err)
	}
	return m, name, nil
}

// usage is how the model is meant to be used, as the files of the Sentence
// Transformers library say it.
type usage struct {
	Length struct {
		Max int `json:"max_seq_length"`
	}
	Model struct {
		Positions int `json:"max_position_embeddings"`
	}
	Pooling struct {
		CLS      bool `json:"pooling_mode_cls_token"`
		Mean     bool `json:"pooling_mode_mean_tokens"`
		Max      bool `json:"pooling_mode_max_tokens"`
		RootMean bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted bool `json:"pooling_mode_weightedmean_tokens"`
		Last     bool `json:"pooling_mode_lasttoken"`
	}
	Texts struct {
		Prompts map[string]string `json:"prompts"`
	}
}

const poolingFile = "1_Pooling/config.json"

func (f *folder) usage() (u usage, err error) {
	for _, part := range []struct {
		out  any
		name string
	}{
		{&u.Length, "sentence_bert_config.json"}, {&u.Model, "config.json"},
		{&u.Pooling, poolingFile}, {&u.Texts, "config_sentence_transformers.json"},
	} {
		if err := f.settings(part.out, part.name); err != nil {
			return u, err
		}
	}
	p := u.Pooling
	if p.Max || p.RootMean || p.Weighted || p.Last || p.CLS && p.Mean {
		return u, f.fault(poolingFile, errors.New("asks for another pooling than that by CLS or mean"))
	}
	return u, nil
}

// limit is how many pieces of a text the model takes.
func (u usage) limit(tokenizer int) int {
	limit := maxPieces
	if u.Model.Positions > 0 {
		limit = min(limit, u.Model.Positions)
	}
	switch {
	case u.Length.Max > 0:
		limit = min(limit, u.Length.Max)
	case tokenizer > 0:
		limit = min(limit, tokenizer)
	}
	return limit
}

// maxPieces is the most for any model: what a text costs grows faster than
// they do.
const maxPieces = 512
