package embed_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/search/embed"
	"cairn/search/embed/modeltest"
	"cairn/search/embed/onnx"
	"cairn/search/embed/wordpiece"
)

var royal = map[string][]float32{"king": {1, 0, 0}, "queen": {0.9, 0.1, 0}, "bread": {-0.1, 1, 0}}

func open(t *testing.T, dir string) *embed.Model {
	t.Helper()
	m, err := embed.OpenModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAModelLaysTextsNearEachOther(t *testing.T) {
	t.Parallel()
	m := open(t, modeltest.Folder(t, royal))
	king, queen, bread := m.Embed("The king."), m.Embed("QUEEN of hearts"), m.Embed("some bread")
	if near, far := embed.Similarity(king, queen), embed.Similarity(king, bread); near < 0.9 || far > 0.1 {
		t.Errorf("king is near queen %.2f, near bread %.2f", near, far)
	}
	if !king.IsOf(m.Name()) || len(king) != len(bread) {
		t.Errorf("the vectors are %x and %x", king, bread)
	}
	for _, text := range []string{"", "xyzzy", "\xff\xfe", "锁"} {
		if v := m.Embed(text); v.HasPlace() || !v.IsOf(m.Name()) {
			t.Errorf("%q has the vector %x", text, v)
		}
	}
	if v := m.Embed(strings.Repeat("bread ", 100_000)); embed.Similarity(v, bread) < 0.99 {
		t.Error("a long text lies elsewhere")
	}
}

// The name stands for all that makes a difference, and for nothing else.
func TestAModelIsNamedByWhatWasRead(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for what, change := range map[string]func(dir string){
		"as it is":    func(string) {},
		"a note file": func(dir string) { modeltest.Write(t, dir, "README.md", "about it") },
		"pooling":     func(dir string) { modeltest.Write(t, dir, "1_Pooling/config.json", `{"pooling_mode_cls_token": true}`) },
		"length":      func(dir string) { modeltest.Write(t, dir, "sentence_bert_config.json", `{"max_seq_length": 5}`) },
		"vocabulary": func(dir string) {
			modeltest.Write(t, dir, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nking\nqueen\nbread\n")
		},
		"case": func(dir string) { modeltest.Write(t, dir, "tokenizer_config.json", `{"do_lower_case": false}`) },
		"prompts": func(dir string) {
			modeltest.Write(t, dir, "config_sentence_transformers.json", `{"prompts": {"query": "query: "}}`)
		},
	} {
		dir := modeltest.Folder(t, royal)
		change(dir)
		names[what] = open(t, dir).Name()
	}
	seen := map[string]string{}
	for what, name := range names {
		if what == "a note file" {
			continue
		}
		if other, twice := seen[name]; twice {
			t.Errorf("%s and %s are both %s", what, other, name)
		}
		seen[name] = what
	}
	if names["a note file"] != names["as it is"] {
		t.Error("a file that is not read makes another name")
	}
}

func TestAModelIsUsedAsItsFilesSay(t *testing.T) {
	t.Parallel()
	dir := modeltest.Folder(t, map[string][]float32{"king": {1, 0}, "bread": {0, 1}, "query": {1, 1}})
	modeltest.Write(t, dir, "config.json", `{"max_position_embeddings": 64}`)
	if got := open(t, dir).Limit(); got != 64 {
		t.Errorf("it takes %d pieces", got)
	}
	modeltest.Write(t, dir, "sentence_bert_config.json", `{"max_seq_length": 4}`)
	modeltest.Write(t, dir, "config_sentence_transformers.json", `{"prompts": {"query": "query: ", "document": ""}}`)
	m := open(t, dir)
	if s := embed.Similarity(m.Embed("king king bread bread"), m.Embed("king")); m.Limit() != 4 || s < 0.99 {
		t.Errorf("of %d pieces those after the fourth are near %.2f", m.Limit(), s)
	}
	m.SetPatience(time.Hour)
	if s := embed.Similarity(m.Question("unknown"), m.Embed("query")); s < 0.99 {
		t.Errorf("a question has no prompt: %.2f", s)
	}
}

func TestTheFirstPieceCanStandForTheText(t *testing.T) {
	t.Parallel()
	m, _ := modeltest.Words(royal)
	m.Weights[0].Floats[2*3] = 1 // [CLS]
	dir := modeltest.Folder(t, royal)
	modeltest.Write(t, dir, "onnx/model.onnx", string(m.Bytes()))
	if err := os.Remove(filepath.Join(dir, "model.onnx")); err != nil {
		t.Fatal(err)
	}
	modeltest.Write(t, dir, "1_Pooling/config.json", `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}`)
	first := open(t, dir)
	if s := embed.Similarity(first.Embed("king"), first.Embed("bread")); s < 0.99 {
		t.Errorf("the texts are near %.2f", s)
	}
}

// A model may give the vector of the text itself.
func TestAModelMayPoolByItself(t *testing.T) {
	t.Parallel()
	m, _ := modeltest.Words(royal)
	m.Nodes = append(m.Nodes, modeltest.N("ReduceSum", "sentence_embedding", "last_hidden_state", "middle").With("keepdims", int64(0)))
	m.Weights = append(m.Weights, modeltest.I("middle", []int64{1}, 1))
	m.Out = []string{"last_hidden_state", "sentence_embedding"}
	dir := modeltest.Folder(t, royal)
	plain := open(t, dir).Embed("king bread")
	modeltest.Write(t, dir, "model.onnx", string(m.Bytes()))
	if got := open(t, dir).Embed("king bread"); !bytes.Equal(got[8:], plain[8:]) {
		t.Errorf("it makes %x, want %x", got, plain)
	}
}

func TestAFolderWithoutAModelThatWorksIsRefused(t *testing.T) {
	t.Parallel()
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	model := func(err error) bool { _, ok := errors.AsType[*onnx.ModelError](err); return ok }
	format := func(err error) bool { _, ok := errors.AsType[*wordpiece.FormatError](err); return ok }
	any := func(error) bool { return true }
	changed := func(change func(*modeltest.Model)) string {
		m, _ := modeltest.Words(royal)
		change(&m)
		return string(m.Bytes())
	}
	for name, c := range map[string]struct {
		file, content string // "" for none
		at            string // the file that is named
		fits          func(error) bool
	}{
		"no model":       {"model.onnx", "", "model.onnx", is(fs.ErrNotExist)},
		"no tokenizer":   {"vocab.txt", "", "vocab.txt", is(fs.ErrNotExist)},
		"a pointer":      {"model.onnx", "version https://git-lfs.github.com/spec/v1\n", "model.onnx", model},
		"cut off":        {"model.onnx", changed(func(*modeltest.Model) {})[:100], "model.onnx", model},
		"tokenizer":      {"tokenizer.json", "{", "tokenizer.json", format},
		"settings":       {"config.json", "[", "config.json", any},
		"case":           {"tokenizer_config.json", "[", "tokenizer_config.json", any},
		"pooling":        {"1_Pooling/config.json", `{"pooling_mode_max_tokens": true}`, "1_Pooling/config.json", any},
		"another input":  {"model.onnx", changed(func(m *modeltest.Model) { m.In = append(m.In, "pixels") }), "model.onnx", any},
		"other outputs":  {"model.onnx", changed(func(m *modeltest.Model) { m.Nodes[0].Out[0] = "x"; m.Out = []string{"x", "words"} }), "model.onnx", any},
		"another shape":  {"model.onnx", changed(func(m *modeltest.Model) { m.Out = []string{"words"} }), "model.onnx", any},
		"few words":      {"model.onnx", changed(func(m *modeltest.Model) { m.Weights[0] = modeltest.F("words", []int64{1, 3}, 1, 2, 3) }), "model.onnx", model},
		"one number":     {"model.onnx", changed(func(m *modeltest.Model) { m.Weights[0].Dims = []int64{21, 1} }), "model.onnx", any},
		"integers":       {"model.onnx", changed(func(m *modeltest.Model) { m.Weights[0] = modeltest.I("words", []int64{7, 3}, make([]int64, 21)...) }), "model.onnx", any},
		"a large number": {"vocab.txt", strings.Repeat("x\n", 1<<20+1), "vocab.txt", format},
	} {
		dir := modeltest.Folder(t, royal)
		if c.content == "" {
			if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
		} else {
			modeltest.Write(t, dir, c.file, c.content)
		}
		_, err := embed.OpenModel(dir)
		bad, ok := errors.AsType[*embed.FileError](err)
		if !ok || bad.Path != filepath.Join(dir, filepath.FromSlash(c.at)) || !c.fits(err) || bad.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsNoNumberHasNoPlace(t *testing.T) {
	t.Parallel()
	m := open(t, modeltest.Folder(t, map[string][]float32{"king": {1, 0}, "none": {float32(math.NaN()), 1}, "endless": {float32(math.Inf(1)), 1}}))
	for _, text := range []string{"none", "endless"} {
		if m.Embed(text).HasPlace() || !m.Embed("king").HasPlace() {
			t.Errorf("%s has a place", text)
		}
	}
}

func TestAQuestionDoesNotWaitLongForItsVector(t *testing.T) {
	t.Parallel()
	m := open(t, modeltest.Folder(t, royal))
	m.SetPatience(time.Hour)
	king := m.Embed("king")
	if v := m.Question("king"); !bytes.Equal(v, king) {
		t.Errorf("there is time, and it has %x", v)
	}
	m.SetPatience(-1)
	if v := m.Question("king"); !bytes.Equal(v, king) {
		t.Errorf("a question asked before has %x", v)
	}
	// What was not there in time is there later, though it was asked for but once.
	for n := range 20 {
		text := strings.Repeat("bread ", n+1)
		m.Question(text)
		if m.Settle(); m.Question(text) == nil {
			t.Fatalf("the vector of question %d was not computed", n)
		}
	}
}

// Many ask at once, more than are remembered.
func TestManyQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	m := open(t, modeltest.Folder(t, royal))
	m.SetPatience(time.Hour)
	done := make(chan error)
	const askers = 8
	for i := range askers {
		go func() {
			for j := range 200 {
				if v := m.Question(strings.Repeat("bread ", i+1) + strings.Repeat("king ", j)); !v.IsOf(m.Name()) {
					done <- errors.New("no vector")
					return
				}
			}
			done <- nil
		}()
	}
	for range askers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
