package embed_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/search/embed"
)

const small = "the 0.1 0.1\nking 1 0\nqueen 0.9 0.1\nbread -0.1 1\n"

func read(t *testing.T, file string) *embed.Words {
	t.Helper()
	w, err := embed.ReadWords(strings.NewReader(file))
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	return w
}

func TestTextsThatMeanTheSameLieNearEachOther(t *testing.T) {
	t.Parallel()
	w := read(t, small)
	king, queen, bread := w.Embed("The king."), w.Embed("QUEEN of hearts"), w.Embed("some bread")
	if near, far := embed.Similarity(king, queen), embed.Similarity(king, bread); near < 0.9 || far > 0.1 {
		t.Errorf("king is near queen %.2f, near bread %.2f", near, far)
	}
	if same := embed.Similarity(king, w.Embed("king king")); math.Abs(same-1) > 1e-6 {
		t.Errorf("a text is near itself %v", same)
	}
	if len(king) != len(bread) || w.Dims() != 2 || w.Count() != 3 {
		t.Errorf("%d words of %d numbers, vectors of %d and %d bytes", w.Count(), w.Dims(), len(king), len(bread))
	}
}

func TestATextOfUnknownWordsHasNoPlace(t *testing.T) {
	t.Parallel()
	w := read(t, small)
	for _, text := range []string{"", "xyzzy", "the", "\xff\xfe", "锁"} {
		v := w.Embed(text)
		if v.HasPlace() || !v.IsOf(w.Name()) || embed.Similarity(v, w.Embed("king")) != 0 {
			t.Errorf("%q has the vector %x", text, v)
		}
	}
}

func TestVectorsOfTwoFilesAreNotCompared(t *testing.T) {
	t.Parallel()
	a, b := read(t, small), read(t, small+"plane 1 1\n")
	if a.Name() == b.Name() || a.Embed("king").IsOf(b.Name()) {
		t.Errorf("both are %s", a.Name())
	}
	if s := embed.Similarity(a.Embed("king"), b.Embed("king")); s != 0 {
		t.Errorf("they are near %v", s)
	}
	if embed.Vector(nil).IsOf(a.Name()) || embed.Similarity(nil, nil) != 0 {
		t.Error("nil is the vector of nobody")
	}
}

// The forms in which the usual collections are published say the same.
func TestEveryFormOfAFileMakesTheSameVectors(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(small))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	want := read(t, small).Name()
	for form, file := range map[string]string{
		"word2vec": "4 2\n" + small,
		"fastText": "4 2\n" + strings.ReplaceAll(small, "\n", " \n"),
		"Windows":  strings.ReplaceAll(small, "\n", "\r\n"),
		"tabs":     strings.ReplaceAll(small, " ", "\t"),
		"gzip":     packed.String(),
		"no end":   strings.TrimSuffix(small, "\n"),
	} {
		if got := read(t, file).Name(); got != want {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
	}
}

func TestWhatIsNotOneWordIsLeftOut(t *testing.T) {
	t.Parallel()
	w := read(t, "King 1 0\nking 0 1\n. 1 1\nnew york 1 1\nat name@example.com 1 1\nnothing 0 0\n")
	if w.Count() != 1 || embed.Similarity(w.Embed("king"), read(t, "King 1 0\nking 0 1\n. 1 1\nnew york 1 1\nat name@example.com 1 1\nnothing 0 0\n").Embed("KING")) != 1 {
		t.Errorf("%d words are known", w.Count())
	}
}

func TestAFileThatIsNoneIsRefusedWithTheLine(t *testing.T) {
	t.Parallel()
	for file, line := range map[string]int{
		"":                                 0,
		". 1 2\n":                          0,
		"word\n":                           1,
		"word 1\n":                         1,
		"\n":                               1,
		"king 1 0\nqueen 1\n":              2,
		"king 1 0\nqueen 1 0 1\n":          2,
		"king 1 0\n\nqueen 1 0\n":          2,
		"king 1 0\nqueen 1 x\n":            2,
		"king 1 0\nqueen NaN 1\n":          2,
		"king 1 0\nqueen 1 Inf\n":          2,
		"king 1e99 0\n":                    1,
		"2 3\nking 1 0\n":                  2,
		"2 1\nking 1\n":                    1,
		"0 5\n":                            1,
		"1 100000\nking 1\n":               1,
		"king" + strings.Repeat(" 1", 600): 1,
		"king 1 0\n" + strings.Repeat("x", 20<<10): 2,
		"\x1f\x8bnot gzip":                         0,
	} {
		_, err := embed.ReadWords(strings.NewReader(file))
		bad, ok := errors.AsType[*embed.FileError](err)
		if !ok || bad.Line != line || bad.Error() == "" {
			t.Errorf("%.30q: %v, want an error in line %d", file, err, line)
		}
	}
}

func TestOnlyTheBeginningOfALongFileIsRead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40_000 {
		b.WriteString("w")
		for ; i > 0; i /= 26 {
			b.WriteByte(byte('a' + i%26))
		}
		b.WriteString(" 1 2\n")
	}
	b.WriteString("and here nothing is right any more\n")
	if w := read(t, b.String()); w.Count() < 30_000 {
		t.Errorf("%d words are known", w.Count())
	}
}

func TestASourceLoadsInTheBackground(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	s := embed.NewSource("words:" + path)
	by, err := s.Wait(t.Context())
	if err != nil || by.Name() != read(t, small).Name() || s.Now() == nil {
		t.Errorf("loaded %v, %v", by, err)
	}
}

func TestASourceThatCannotBeLoadedSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("king 1 0\nqueen\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for setting, fits := range map[string]func(error) bool{
		"words:" + filepath.Join(dir, "none"): func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
		"words:" + broken: func(err error) bool {
			bad, ok := errors.AsType[*embed.FileError](err)
			return ok && bad.Line == 2 && bad.Path == broken
		},
		"words:here":      func(err error) bool { _, ok := errors.AsType[*embed.SettingError](err); return ok },
		"onnx:here":       func(err error) bool { _, ok := errors.AsType[*embed.SettingError](err); return ok },
		"glove:" + broken: func(err error) bool { _, ok := errors.AsType[*embed.SettingError](err); return ok },
		"words:" + dir:    func(err error) bool { _, ok := errors.AsType[*embed.FileError](err); return ok },
	} {
		s := embed.NewSource(setting)
		if by, err := s.Wait(t.Context()); by != nil || !fits(err) || s.Now() != nil {
			t.Errorf("%s: %v, %v", setting, by, err)
		}
	}
}

func TestNoSettingIsNoSource(t *testing.T) {
	t.Parallel()
	s := embed.NewSource("")
	if by, err := s.Wait(context.Background()); s != nil || by != nil || err != nil || s.Now() != nil {
		t.Errorf("%v, %v", by, err)
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{small, "4 2\n" + small, "king 1 0\nqueen\n", "\x1f\x8b", "k -1e-45 3e38\n", "word 1\t2 \r\n"} {
		f.Add([]byte(seed), "the king of bread")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		w, err := embed.ReadWords(bytes.NewReader(file))
		if err != nil {
			if _, ok := errors.AsType[*embed.FileError](err); !ok {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		v := w.Embed(text)
		if !v.IsOf(w.Name()) || v.HasPlace() && len(v) != len(w.Embed("x"+text+" x")) && w.Embed("x"+text+" x").HasPlace() {
			t.Fatalf("the vector %x", v)
		}
		if s := embed.Similarity(v, v); math.IsNaN(s) || v.HasPlace() && math.Abs(s-1) > 1e-9 {
			t.Fatalf("a text is near itself %v", s)
		}
	})
}
