package embed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"cairn/search/analysis"
)

// Words is an Embedder that knows the place of each of many words, and takes
// the middle of those that a text holds.
type Words struct {
	name  string
	stamp []byte
	dims  int
	place map[string]int32 // of each word, in rows of table
	table []int8
	gain  []float32 // of each row: what one step of its numbers adds to a text
}

// OpenWords reads the file at path, all it will use of it. Errors: *FileError.
func OpenWords(path string) (*Words, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Reason: "cannot be opened", Err: err}
	}
	defer f.Close()
	w, err := ReadWords(f)
	if bad, ok := errors.AsType[*FileError](err); ok {
		bad.Path = path
	}
	return w, err
}

// ReadWords reads word vectors: in each line a word and, after blanks, its
// numbers, the most frequent words first. A first line may say how many words
// and numbers there are. Of words that differ in case only the first counts,
// and what is not one word to package analysis is left out. Errors: *FileError.
func ReadWords(in io.Reader) (*Words, error) {
	r, err := newReader(in)
	if err != nil {
		return nil, err
	}
	w := &Words{place: map[string]int32{}}
	sum := sha256.New()
	for rank := range maxWords {
		next, ok, err := r.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		w.add(rank, next, sum)
	}
	if len(w.place) == 0 {
		return nil, &FileError{Reason: "holds no word that could be looked up"}
	}
	w.dims = r.dims
	w.name = fmt.Sprintf("words-%d-%d-%x", version, w.dims, sum.Sum(nil)[:8])
	w.stamp = stampOf(w.name)
	return w, nil
}

// version goes up with every change after which the same file makes other
// vectors.
const version = 1

// add takes in a word with its rank, and writes what it keeps of it to sum.
func (w *Words) add(rank int, r row, sum hash.Hash) {
	word, ok := single(r.word)
	if !ok {
		return
	}
	scale := scaleOf(r.numbers)
	if _, known := w.place[word]; known || scale == 0 {
		return
	}
	w.place[word] = int32(len(w.gain))
	start := len(w.table)
	var square float64
	for _, x := range r.numbers {
		n := steps(x, scale)
		w.table = append(w.table, n)
		square += float64(n) * float64(n)
	}
	w.gain = append(w.gain, float32(weightOf(rank)/math.Sqrt(square)))
	fmt.Fprintf(sum, "%d %s ", rank, word)
	for _, n := range w.table[start:] {
		sum.Write([]byte{byte(n)})
	}
}

// single is a word as package analysis has it, if it is one and no more.
func single(word string) (folded string, ok bool) {
	if !utf8.ValidString(word) {
		return "", false
	}
	for tok := range analysis.Tokens(word) {
		if !counts(tok) || folded != "" {
			return "", false
		}
		folded = tok.Text
	}
	return folded, folded != "" && !analysis.IsStop(folded)
}

// counts says which tokens are looked up: words, and the parts of those that
// are written together.
func counts(tok analysis.Token) bool { return tok.Form == analysis.Word || tok.Form == analysis.Part }

// How much less a frequent word counts: a/(a+p), where p is how often it
// comes, which by Zipf's law follows from its rank (Arora and others, A Simple
// but Tough-to-Beat Baseline for Sentence Embeddings, 2017).
const (
	smooth  = 1e-3
	harmony = 11.2 // the sum of 1/rank of as many words as a file holds
)

func weightOf(rank int) float64 {
	p := 1 / (float64(rank+1) * harmony)
	return smooth / (smooth + p)
}

// Name is made of what was read, not of where it was read from.
func (w *Words) Name() string { return w.name }

// maxText is how much of a text is looked at, in bytes.
const maxText = 32 << 10

func cut(text string) string { return text[:min(len(text), maxText)] }

// Question is Embed.
func (w *Words) Question(text string) Vector { return w.Embed(text) }

// Embed takes each word as often as it comes.
func (w *Words) Embed(text string) Vector {
	text = cut(text)
	sum := make([]float32, w.dims)
	for tok := range analysis.Tokens(text) {
		at, known := w.place[tok.Text]
		if !known || !counts(tok) {
			continue
		}
		gain := w.gain[at]
		for i, n := range w.table[int(at)*w.dims:][:w.dims] {
			sum[i] += gain * float32(n)
		}
	}
	return newVector(w.stamp, sum)
}
