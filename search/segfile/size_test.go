package segfile_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"cairn/search/segfile"
)

// What a Builder says that it takes is what it takes, and its segment with it:
// indexes are built in as much memory as there may be.
func TestABuilderTakesWhatItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	before := heap()
	b := segfile.NewBuilder()
	for i := range 4000 {
		if err := b.Add(randomDocument(r, i)); err != nil {
			t.Fatal(err)
		}
	}
	said := b.Size()
	s, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	took := int(heap() - before)
	runtime.KeepAlive(b)
	runtime.KeepAlive(s)
	if said < took/2 || said > 2*took {
		t.Errorf("it says %d bytes, and takes %d", said, took)
	}
}

// randomDocument has some 200 terms, most of them in other documents as well,
// and a text.
func randomDocument(r *rand.Rand, n int) *document {
	words := field{name: "words"}
	for range 200 {
		words.terms = append(words.terms, fmt.Sprint("term", int(r.ExpFloat64()*3000)))
	}
	for range 60 {
		words.value = fmt.Appendf(words.value, "word%d ", int(r.ExpFloat64()*500))
	}
	id := fmt.Sprintf("%026d", n)
	return &document{row: segfile.Row{ID: id, Space: "team"}, fields: []field{{name: "_id", terms: []string{id}}, words}}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
