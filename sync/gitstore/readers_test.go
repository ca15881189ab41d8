package gitstore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// Several goroutines read through one Store what another Store appends. What a
// ref leads to must be there for each of them, whichever of them notices the
// new pack first.
func TestReadersOfOneStoreSeeWhatAnotherAppends(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r.git")
	if err := gitstore.Init(disk.OS, dir); err != nil {
		t.Fatal(err)
	}
	open := func() *gitstore.Store {
		s, err := gitstore.Open(disk.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	writer, reader := open(), open()
	tree := gitstore.NewObject(plumbing.TreeObject, nil)
	var head plumbing.Hash
	appendOne := func(i int) {
		c := gitstore.NewObject(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nauthor a <a@b> %d +0000\ncommitter a <a@b> %d +0000\n\nx\n", tree.Hash, i, i))
		lock, err := writer.Lock(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		if _, err := writer.WritePack([]gitstore.Object{tree, c}); err != nil {
			t.Fatal(err)
		}
		if err := writer.UpdateRef("refs/heads/main", head, c.Hash); err != nil {
			t.Fatal(err)
		}
		head = c.Hash
	}
	appendOne(0)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() {
			for !done.Load() {
				h, err := reader.Head()
				if err == nil {
					_, err = reader.Object(h.Commit)
				}
				if err != nil {
					t.Errorf("read the head: %v", err)
					return
				}
			}
		})
	}
	for i := range 150 {
		appendOne(i + 1)
	}
	done.Store(true)
	readers.Wait()
}
