package memory_test

import (
	"fmt"
	"testing"

	"cairn/agent/api"
)

func BenchmarkSave(b *testing.B) {
	h := newHome(b, anythingGoes)
	for i := 0; b.Loop(); i++ {
		h.note(fmt.Sprint("badger number ", i))
	}
}

func BenchmarkAsk(b *testing.B) {
	h := newHome(b, anythingGoes)
	for i := range 20 {
		h.note(fmt.Sprint("badger number ", i))
	}
	for b.Loop() {
		if a := h.ask(api.Query{Text: "badger"}); len(a.Hits) != 5 {
			b.Fatalf("%+v", a)
		}
	}
}
