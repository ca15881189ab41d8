package wordpiece

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A FormatError reports a file that no Tokenizer can be made of.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return "the tokenizer " + e.Reason }

func faulty(format string, args ...any) error {
	return &FormatError{fmt.Sprintf(format, args...)}
}

// A Tokenizer is safe for concurrent use.
type Tokenizer struct {
	vocab     map[string]int64
	unknown   int64
	joint     string // what a piece begins with that does not begin a word
	longest   int    // runes of a word that is looked at
	clean     cleaning
	before    []int64 // a text
	after     []int64
	MaxPieces int // that the file wants a text to be cut at; 0 if it does not say
}

const (
	maxVocab = 1 << 20
	longest  = 100
)

// file is what is read of a tokenizer.json.
type file struct {
	Truncation *struct {
		MaxLength int `json:"max_length"`
	} `json:"truncation"`
	Normalizer   *normalizer `json:"normalizer"`
	PreTokenizer *struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	PostProcessor *processor `json:"post_processor"`
	Model         struct {
		Type    string          `json:"type"`
		Unknown string          `json:"unk_token"`
		Joint   *string         `json:"continuing_subword_prefix"`
		Longest int             `json:"max_input_chars_per_word"`
		Vocab   json.RawMessage `json:"vocab"` // its form depends on the type
	} `json:"model"`
}

type normalizer struct {
	Type         string `json:"type"`
	CleanText    bool   `json:"clean_text"`
	Chinese      bool   `json:"handle_chinese_chars"`
	StripAccents *bool  `json:"strip_accents"`
	Lowercase    bool   `json:"lowercase"`
}

// Parse reads a tokenizer.json. Errors: *FormatError.
func Parse(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, faulty("cannot be read: %v", err)
	}
	switch {
	case f.Model.Type != "WordPiece" && (f.Model.Type != "" || f.Model.Joint == nil): // old files leave out the type
		return nil, faulty("is of the type %q; only WordPiece is known", f.Model.Type)
	case f.PreTokenizer == nil || f.PreTokenizer.Type != "BertPreTokenizer":
		return nil, faulty("finds words in another way than BERT")
	}
	t := &Tokenizer{joint: "##", longest: longest}
	if err := json.Unmarshal(f.Model.Vocab, &t.vocab); err != nil {
		return nil, faulty("has a vocabulary that cannot be read: %v", err)
	}
	if f.Model.Joint != nil {
		t.joint = *f.Model.Joint
	}
	if f.Model.Longest > 0 {
		t.longest = min(f.Model.Longest, longest)
	}
	if f.Truncation != nil {
		t.MaxPieces = max(0, f.Truncation.MaxLength)
	}
	var err error
	if t.clean, err = f.Normalizer.cleaning(); err != nil {
		return nil, err
	}
	if t.before, t.after, err = f.PostProcessor.frame(t.vocab); err != nil {
		return nil, err
	}
	return t, t.check(f.Model.Unknown)
}

func (n *normalizer) cleaning() (cleaning, error) {
	if n == nil {
		return cleaning{}, nil
	}
	if n.Type != "BertNormalizer" {
		return cleaning{}, faulty("cleans texts by %q; only BertNormalizer is known", n.Type)
	}
	strip := n.Lowercase
	if n.StripAccents != nil {
		strip = *n.StripAccents
	}
	return cleaning{control: n.CleanText, ideographs: n.Chinese, accents: strip, lower: n.Lowercase}, nil
}

// ParseVocab reads a vocab.txt, one piece in each line; lower says whether the
// model knows lower-case letters only. Errors: *FormatError.
func ParseVocab(data []byte, lower bool) (*Tokenizer, error) {
	t := &Tokenizer{
		vocab: map[string]int64{}, joint: "##", longest: longest,
		clean: cleaning{control: true, ideographs: true, accents: lower, lower: lower},
	}
	data = bytes.TrimSuffix(data, []byte("\n"))
	if bytes.Count(data, []byte("\n")) >= maxVocab { // before room is made for so many
		return nil, faulty("has more than %d pieces", maxVocab)
	}
	lines := bytes.Split(data, []byte("\n"))
	for i, line := range lines {
		t.vocab[strings.TrimRight(string(line), "\r")] = int64(i)
	}
	for name, at := range map[string]*[]int64{"[CLS]": &t.before, "[SEP]": &t.after} {
		id, ok := t.vocab[name]
		if !ok {
			return nil, faulty("has no piece %s", name)
		}
		*at = []int64{id}
	}
	return t, t.check("[UNK]")
}

func (t *Tokenizer) check(unknown string) error {
	id, ok := t.vocab[unknown]
	if !ok {
		return faulty("has no piece %q for what it does not know", unknown)
	}
	t.unknown = id
	if len(t.vocab) > maxVocab {
		return faulty("has more than %d pieces", maxVocab)
	}
	for piece, id := range t.vocab {
		if id < 0 || id >= 2*maxVocab {
			return faulty("numbers the piece %q with %d", piece, id)
		}
	}
	return nil
}

// Encode is the pieces of a text, most of them words, and those that a model
// wants before and after; at most limit in all, whatever is cut off, unless
// those before and after are more.
func (t *Tokenizer) Encode(text string, limit int) []int64 {
	room := max(0, limit-len(t.before)-len(t.after))
	out := append([]int64(nil), t.before...)
	t.words(text, func(word string) bool {
		out = t.pieces(out, word)
		return len(out)-len(t.before) < room
	})
	return append(out[:min(len(out), len(t.before)+room)], t.after...)
}

// pieces appends those of a word: from its beginning on always the longest that
// is known. A word with anything else in it is unknown as a whole.
func (t *Tokenizer) pieces(out []int64, word string) []int64 {
	start := len(out)
	if utf8.RuneCountInString(word) > t.longest {
		return append(out, t.unknown)
	}
	joint := ""
	for len(word) > 0 {
		n, id := t.longestPiece(joint, word)
		if n == 0 {
			return append(out[:start], t.unknown)
		}
		out = append(out, id)
		word, joint = word[n:], t.joint
	}
	return out
}

func (t *Tokenizer) longestPiece(joint, word string) (n int, id int64) {
	for n = len(word); n > 0; {
		if id, ok := t.vocab[joint+word[:n]]; ok {
			return n, id
		}
		_, size := utf8.DecodeLastRuneInString(word[:n])
		n -= size
	}
	return 0, 0
}
