package segfile

import (
	"bytes"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"pgregory.net/rapid"
)

// drawList is documents in order, far from each other or in a row, within one
// block of roaring's or over several.
func drawList(t *rapid.T, most int) []uint32 {
	doc := rapid.Uint32Range(0, 1<<17).Draw(t, "first")
	gap := rapid.OneOf(rapid.Uint32Range(1, 2), rapid.Uint32Range(1, 300), rapid.Uint32Range(1, 1<<18)).Draw(t, "gap")
	var docs []uint32
	for range rapid.IntRange(1, most).Draw(t, "docs") {
		docs = append(docs, doc)
		doc += rapid.Uint32Range(1, gap).Draw(t, "next")
	}
	return docs
}

func TestGapsReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := drawList(t, 200)
		l := List{gaps: packGaps(nil, docs), docs: uint64(docs[len(docs)-1]) + 1}
		if got, err := l.AppendTo(nil); err != nil || !slices.Equal(got, docs) {
			t.Fatalf("appended %d, want %d (%v)", got, docs, err)
		}
		bitmap, err := l.Bitmap()
		if err != nil || !slices.Equal(bitmap.ToArray(), docs) {
			t.Fatalf("the bitmap has %v, want %d (%v)", bitmap, docs, err)
		}
		l.docs--
		if _, err := l.AppendTo(nil); err == nil {
			t.Fatal("it reads a document that the segment does not have")
		}
	})
}

func TestArraysAreWrittenAsRoaringWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := drawList(t, maxGaps/4)
		want, err := roaring.BitmapOf(docs...).ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		if got := packArrays(docs); !bytes.Equal(got, want) {
			t.Fatalf("%d are written\n%x\nwant\n%x", docs, got, want)
		}
	})
}

// FuzzGaps reads any bytes as gaps: what is read are documents of the segment, in
// order, and written again no longer.
func FuzzGaps(f *testing.F) {
	f.Add(packGaps(nil, []uint32{0, 1, 5, 300, 70_000}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, gaps []byte) {
		const of = 100_000
		docs, err := List{gaps: gaps, docs: of}.AppendTo(nil)
		if err != nil {
			return
		}
		for i, doc := range docs {
			if doc >= of || i > 0 && doc <= docs[i-1] {
				t.Fatalf("%x are %d", gaps, docs)
			}
		}
		if again := packGaps(nil, docs); len(again) > len(gaps) {
			t.Fatalf("%x are %d, which are written as %x", gaps, docs, again)
		}
	})
}

// A list says how long it is. One that is longer than any that is written as
// gaps cannot be.
func TestMoreGapsThanAListHasAreRefused(t *testing.T) {
	l := List{gaps: make([]byte, maxGaps+1), docs: 1 << 20}
	if _, err := l.Bitmap(); err == nil {
		t.Error("it makes a bitmap of them")
	}
}
