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

func FuzzAsk(f *testing.F) {
	for _, s := range []string{"redis", "C++ (x)", `"of the" NOT x`, "title:a* OR (b AND c)", "\xff", "文件锁 ﾃﾞ", "kuberntes", "a.b-c_d/e", "kind:note -tag:x OR since:7d", "c* tag:\"a b\"", "jubernetes AND redsi"} {
		f.Add(s, true)
	}
	x, err := search.Open(f.TempDir(), search.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { x.Close() })
	b := search.Batch{Space: "team"}
	for n, text := range []string{"redis of the cluster", "C++ and c#", "文件锁 and ファイル", "kubernetes a.b-c_d/e useEffect", "x b c"} {
		b.Put = append(b.Put, search.Doc{ID: idAt(n), Title: text, Body: text})
	}
	if err := x.Apply(f.Context(), b); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, typing bool) {
		r, err := x.Ask(t.Context(), search.Query{Text: text, Prefix: typing, Limit: 3})
		if err != nil {
			t.Fatalf("ask %q: %v", text, err)
		}
		if len(r.Hits) > 3 || r.Total < len(r.Hits) {
			t.Fatalf("ask %q: %d hits of %d", text, len(r.Hits), r.Total)
		}
	})
}
