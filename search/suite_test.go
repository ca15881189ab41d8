package search_test

import (
	"testing"

	"cairn/search"
	"cairn/search/searchtest"
)

func applyAll(t *testing.T, x *search.Index, batches []search.Batch) {
	t.Helper()
	for _, b := range batches {
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// singly cuts batches so that each note comes in a step of its own.
func singly(batches []search.Batch) []search.Batch {
	var out []search.Batch
	for _, b := range batches {
		for _, d := range b.Put {
			out = append(out, search.Batch{Space: b.Space, Put: []search.Doc{d}, Mark: b.Mark})
		}
		out = append(out, search.Batch{Space: b.Space, Delete: b.Delete, Mark: b.Mark})
	}
	return out
}

func closeIndex(t *testing.T, x *search.Index) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestEverySearchBehavesAlike(t *testing.T) {
	for name, make := range map[string]searchtest.Maker{
		"fresh": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			x := open(t, t.TempDir())
			applyAll(t, x, batches)
			return x
		},
		"in single steps": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			x := open(t, t.TempDir())
			applyAll(t, x, singly(batches))
			return x
		},
		"compacted": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			x := open(t, t.TempDir())
			applyAll(t, x, batches)
			if err := x.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			return x
		},
		"reopened": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			dir := t.TempDir()
			x := open(t, dir)
			applyAll(t, x, batches)
			closeIndex(t, x)
			return open(t, dir)
		},
		"rebuilt": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			dir := t.TempDir()
			rebuild(t, dir, batches)
			return open(t, dir)
		},
		"a reader": func(t *testing.T, batches []search.Batch) searchtest.Searcher {
			dir := t.TempDir()
			rebuild(t, dir, batches)
			r, err := search.OpenReader(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			searchtest.Run(t, make)
		})
	}
}

func rebuild(t *testing.T, dir string, batches []search.Batch) {
	t.Helper()
	err := search.Rebuild(t.Context(), dir, func(put func(search.Batch) error) error {
		for _, b := range batches {
			if err := put(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
