package search

import (
	"sync"
	"testing"

	"cairn/internal/disk"
)

// An Open and a rebuild may make a generation at the same time, each its own.
func TestGenerationsMadeAtOnceAreDifferent(t *testing.T) {
	t.Parallel()
	for range 50 {
		h := home{fsys: disk.OS, dir: t.TempDir()}
		var made sync.Map
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				name, err := h.create()
				if err != nil {
					t.Error(err)
				}
				if _, taken := made.LoadOrStore(name, true); taken {
					t.Errorf("%s was made twice", name)
				}
			})
		}
		wg.Wait()
	}
}
