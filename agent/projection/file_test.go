package projection_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

func open(t testing.TB, path string) (*projection.File, *projection.Set, projection.Mark) {
	t.Helper()
	f, set, mark, err := projection.OpenFile(disk.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, set, mark
}

func facts(n int) []projection.Fact {
	out := make([]projection.Fact, n)
	e := eventtest.Note("a note")
	for i := range out {
		e.ID = event.NewID(now.Add(time.Duration(i) * time.Second))
		e.Key = fmt.Sprint("key", i)
		e.Tags = []string{"go", fmt.Sprint("tag", i%50)}
		e.Project = fmt.Sprint("project", i%20)
		out[i] = projection.FactOf(e)
	}
	return out
}

func digest(facts ...projection.Fact) [32]byte {
	set := projection.NewSet()
	set.Add(facts...)
	return set.Digest(view)
}

func TestFactsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts")
	f, set, mark := open(t, path)
	if set.Count() != 0 || mark != (projection.Mark{}) {
		t.Fatalf("a new file holds %d facts and %+v", set.Count(), mark)
	}
	all := facts(10_000)
	first := projection.Mark{Epoch: 1, Commit: [20]byte{1}, Tree: [20]byte{2}, Events: 9_999}
	second := projection.Mark{Epoch: 1, Commit: [20]byte{3}, Tree: [20]byte{4}, Events: 10_000}
	for _, err := range []error{f.Append(first, all[:9_999]...), f.Append(second, all[9_999]), f.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, load := range map[string]func() (*projection.Set, projection.Mark, error){
		"load": func() (*projection.Set, projection.Mark, error) { return projection.Load(disk.OS, path) },
		"open": func() (*projection.Set, projection.Mark, error) { _, s, m := open(t, path); return s, m, nil },
	} {
		set, mark, err := load()
		if err != nil || mark != second || set.Digest(view) != digest(all...) {
			t.Errorf("%s: %d facts, %+v, %v", name, set.Count(), mark, err)
		}
	}
}

func TestEveryFieldIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts")
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(path)
		events := worlds().Draw(t, "world")
		events = append(events, eventtest.Events().Draw(t, "any"))
		events[0].Chain, events[0].Parent = events[0].ID, event.NewID(now)
		var list []projection.Fact
		for _, e := range events {
			list = append(list, projection.FactOf(e))
		}
		f, _, _, err := projection.OpenFile(disk.OS, path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Append(projection.Mark{}, list...); err != nil {
			t.Fatal(err)
		}
		if !projection.Reads(path, list) {
			t.Fatal("the facts read are not the facts written")
		}
	})
}

// Whatever a crash leaves of the last write, everything before it is read and
// the file takes new facts.
func TestATornTailIsDropped(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "facts")
	f, _, _ := open(t, path)
	two := facts(2)
	before, after := projection.Mark{Tree: [20]byte{1}}, projection.Mark{Tree: [20]byte{2}}
	if err := f.Append(before, two[0]); err != nil {
		t.Fatal(err)
	}
	whole := read(t, path)
	if err := f.Append(after, two[1]); err != nil {
		t.Fatal(err)
	}
	both := read(t, path)
	for cut := len(whole); cut < len(both); cut++ {
		torn := filepath.Join(dir, fmt.Sprint("torn", cut))
		zeros := make([]byte, len(both)-cut)
		for _, b := range [][]byte{both[:cut], append(append([]byte{}, both[:cut]...), zeros...)} {
			checkTorn(t, torn, b, before, two)
		}
	}
}

func checkTorn(t *testing.T, path string, b []byte, before projection.Mark, two []projection.Fact) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, set, mark := open(t, path)
	if mark != before || set.Digest(view) != digest(two[0]) {
		t.Fatalf("of %d bytes: %d facts, %+v", len(b), set.Count(), mark)
	}
	next := projection.Mark{Tree: [20]byte{3}}
	if err := f.Append(next, two[1]); err != nil {
		t.Fatal(err)
	}
	set, mark, err := projection.Load(disk.OS, path)
	if err != nil || mark != next || set.Digest(view) != digest(two...) {
		t.Fatalf("after a new append: %d facts, %+v, %v", set.Count(), mark, err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAResetFileForgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts")
	f, _, _ := open(t, path)
	all := facts(5_000)
	mark := projection.Mark{Tree: [20]byte{1}}
	for _, err := range []error{f.Append(mark, all...), f.Reset(), f.Append(projection.Mark{}, all[0])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	set, got, err := projection.Load(disk.OS, path)
	if err != nil || got != (projection.Mark{}) || set.Count() != 1 {
		t.Errorf("%d facts, %+v, %v", set.Count(), got, err)
	}
}

func TestAFileOfAnotherVersionIsEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "facts")
	for _, content := range []string{"cairn facts 0 1\nxxxx", "something else", "c", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, set, mark := open(t, path)
		if set.Count() != 0 || mark != (projection.Mark{}) {
			t.Errorf("%q holds %d facts", content, set.Count())
		}
		if err := f.Append(mark, facts(1)...); err != nil {
			t.Fatal(err)
		}
		if set, _, err := projection.Load(disk.OS, path); err != nil || set.Count() != 1 {
			t.Errorf("%q: %d facts after an append, %v", content, set.Count(), err)
		}
	}
}

// A hundred thousand facts stay in memory all the time.
func TestASetIsSmall(t *testing.T) {
	var before, after runtime.MemStats
	list := facts(100_000)
	runtime.GC()
	runtime.ReadMemStats(&before)
	set := projection.NewSet()
	for len(list) > 0 {
		set.Add(list[:100]...)
		list = list[100:]
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d facts take %d KB", set.Count(), used>>10)
	if used > 35<<20 {
		t.Errorf("%d facts take %d bytes", set.Count(), used)
	}
	runtime.KeepAlive(list)
}

func FuzzLoad(f *testing.F) {
	path := filepath.Join(f.TempDir(), "facts")
	file, _, _ := open(f, path)
	if err := file.Append(projection.Mark{Epoch: 300, Tree: [20]byte{1}}, facts(3)...); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		set := projection.DecodeBody(b)
		for id := range set.Each(api.Filter{}) {
			set.Standing(id, view)
		}
		set.Digest(view)
	})
}

func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "facts")
	f, _, _ := open(b, path)
	if err := f.Append(projection.Mark{}, facts(100_000)...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		set, _, err := projection.Load(disk.OS, path)
		if err != nil || set.Count() != 100_000 {
			b.Fatalf("%d facts, %v", set.Count(), err)
		}
	}
}
