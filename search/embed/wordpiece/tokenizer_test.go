package wordpiece_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/search/embed/wordpiece"
)

// pieces is a vocabulary; each has its place as its number.
var pieces = strings.Fields("[PAD] [UNK] [CLS] [SEP] the un ##aff ##able embed ##ding ##s ! , $ 锁 文 cafe café Café a ##b ##c - _ # hello ᄒ")

func lower(t testing.TB) *wordpiece.Tokenizer {
	t.Helper()
	w, err := wordpiece.ParseVocab([]byte(strings.Join(pieces, "\n")), true)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func named(ids []int64) string {
	var out []string
	for _, id := range ids {
		out = append(out, pieces[id])
	}
	return strings.Join(out, " ")
}

// The cases with words are those of BERT's own tokenizer and its tests.
func TestTextsAreCutAsBERTCutsThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		" \t\n":                  "",
		"The unaffable, hello!":  "the un ##aff ##able , hello !",
		"UNAFFABLE":              "un ##aff ##able",
		"unwanted":               "[UNK]",
		"embeddings":             "embed ##ding ##s",
		"hello!!the$":            "hello ! ! the $",
		"锁文 hello":               "锁 文 hello",
		"the锁":                   "the 锁",
		"Café CAFE\u0301":        "cafe cafe",
		"he\u200bllo\x00 the":    "hello the",
		"a-b a_abc #":            "a - [UNK] a _ a ##b ##c #",
		"[SEP] the":              "[UNK] [UNK] [UNK] the", // "[", "sep", "]"
		strings.Repeat("a", 101): "[UNK]",
		"\xff\xfe the \ufffd":    "the",
	} {
		if got := named(lower(t).Encode(text, 64)); got != strings.TrimSpace("[CLS] "+want)+" [SEP]" {
			t.Errorf("%q is cut to %s, want %s", text, got, want)
		}
	}
}

func TestATextIsCutAtTheLimit(t *testing.T) {
	t.Parallel()
	w := lower(t)
	for limit, want := range map[int]string{
		0: "[CLS] [SEP]", 2: "[CLS] [SEP]", 3: "[CLS] the [SEP]", 4: "[CLS] the un [SEP]", 5: "[CLS] the un ##aff [SEP]", 64: "[CLS] the un ##aff ##able hello [SEP]",
	} {
		if got := named(w.Encode("the unaffable hello", limit)); got != want {
			t.Errorf("%d pieces: %s, want %s", limit, got, want)
		}
	}
}

// written is a tokenizer.json, with parts of it replaced.
func written(change map[string]any) []byte {
	vocab := map[string]int{}
	for i, p := range pieces {
		vocab[p] = i
	}
	f := map[string]any{
		"version":        "1.0",
		"truncation":     map[string]any{"max_length": 128, "strategy": "LongestFirst"},
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", 2}, "sep": []any{"[SEP]", 3}},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	}
	for part, value := range change {
		if m, ok := value.(map[string]any); ok && f[part] != nil {
			for k, v := range m {
				f[part].(map[string]any)[k] = v
			}
			continue
		}
		f[part] = value
	}
	out, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return out
}

func TestBothFilesCutAlike(t *testing.T) {
	t.Parallel()
	template := map[string]any{"type": "TemplateProcessing", "single": []any{
		map[string]any{"SpecialToken": map[string]any{"id": "[CLS]", "type_id": 0}}, map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}},
		map[string]any{"SpecialToken": map[string]any{"id": "[SEP]", "type_id": 0}},
	}}
	for name, change := range map[string]map[string]any{
		"as BERT": nil, "by a template": {"post_processor": template}, "of an old form": {"model": map[string]any{"type": ""}},
	} {
		w, err := wordpiece.Parse(written(change))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := "The unaffable Café, 锁 hello!"
		if got, want := w.Encode(text, 64), lower(t).Encode(text, 64); !slices.Equal(got, want) || w.MaxPieces != 128 {
			t.Errorf("%s: %s, want %s; at most %d pieces", name, named(got), named(want), w.MaxPieces)
		}
	}
}

func TestATokenizerKeepsCaseAndAccentsWhereItShould(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]map[string]any{
		"Café": {"normalizer": map[string]any{"lowercase": false}},
		"café": {"normalizer": map[string]any{"strip_accents": false}},
		"cafe": nil,
	} {
		w, err := wordpiece.Parse(written(change))
		if err != nil {
			t.Fatal(err)
		}
		if got := named(w.Encode("Café", 3)); got != "[CLS] "+want+" [SEP]" {
			t.Errorf("it makes %s, want %s", got, want)
		}
	}
	if w, err := wordpiece.Parse(written(map[string]any{"post_processor": nil, "normalizer": nil})); err != nil || named(w.Encode("the Café", 9)) != "the Café" {
		t.Errorf("with nothing around and nothing cleaned: %v", err)
	}
}

func TestAFileThatIsNoTokenizerIsRefused(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{
		"nothing":      nil,
		"no JSON":      []byte("[UNK]\n[CLS]\n"),
		"another form": []byte("[]"),
		"unigram":      written(map[string]any{"model": map[string]any{"type": "Unigram", "vocab": []any{[]any{"a", -1.5}}}}),
		"BPE":          written(map[string]any{"model": map[string]any{"type": "BPE"}}),
		"words":        written(map[string]any{"pre_tokenizer": map[string]any{"type": "ByteLevel"}}),
		"no words":     written(map[string]any{"pre_tokenizer": nil}),
		"cleaning":     written(map[string]any{"normalizer": map[string]any{"type": "Precompiled"}}),
		"unknown":      written(map[string]any{"model": map[string]any{"unk_token": "<none>"}}),
		"a list":       written(map[string]any{"model": map[string]any{"vocab": []any{"a"}}}),
		"number":       written(map[string]any{"model": map[string]any{"vocab": map[string]any{"[UNK]": -1}}}),
		"large number": written(map[string]any{"model": map[string]any{"vocab": map[string]any{"[UNK]": 1 << 40}}}),
		"around":       written(map[string]any{"post_processor": map[string]any{"type": "ByteLevel"}}),
		"half a frame": written(map[string]any{"post_processor": map[string]any{"sep": []any{"[SEP]"}}}),
		"a template":   written(map[string]any{"post_processor": map[string]any{"type": "TemplateProcessing", "single": []any{}}}),
		"no such piece": written(map[string]any{"post_processor": map[string]any{"type": "TemplateProcessing", "single": []any{
			map[string]any{"SpecialToken": map[string]any{"id": "<s>"}}, map[string]any{"Sequence": map[string]any{}}}}}),
	} {
		_, err := wordpiece.Parse(file)
		if _, ok := errors.AsType[*wordpiece.FormatError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{"", "[UNK]\n[CLS]\n", "[UNK]\n[SEP]\n", "[CLS]\n[SEP]\n"} {
		if _, err := wordpiece.ParseVocab([]byte(file), true); err == nil {
			t.Errorf("%q is a vocabulary", file)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"The unaffable, hello!", "锁文 hello", "Cafe\u0301", "\xff\x00", strings.Repeat("ab", 300)} {
		f.Add(text, 10)
	}
	w := lower(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got := w.Encode(text, limit)
		if len(got) < 2 || len(got) > max(2, limit) || got[0] != 2 || got[len(got)-1] != 3 {
			t.Fatalf("%q is cut to %v at %d", text, got, limit)
		}
		for _, id := range got {
			if id < 0 || id >= int64(len(pieces)) {
				t.Fatalf("%q has the piece %d", text, id)
			}
		}
		if again := w.Encode(text, limit); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("%q is cut in two ways", text)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(written(nil), "the hello")
	f.Add([]byte(strings.Join(pieces, "\r\n")), "the hello")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		for _, parse := range []func() (*wordpiece.Tokenizer, error){
			func() (*wordpiece.Tokenizer, error) { return wordpiece.Parse(file) },
			func() (*wordpiece.Tokenizer, error) { return wordpiece.ParseVocab(file, true) },
		} {
			w, err := parse()
			if err == nil {
				w.Encode(text, 16)
			} else if _, ok := errors.AsType[*wordpiece.FormatError](err); !ok {
				t.Fatalf("an error of another kind: %v", err)
			}
		}
	})
}
