package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/hub/audit"
	"cairn/internal/disk"
	"cairn/internal/event"
)

func linesOf(t *testing.T, paths ...string) (targets map[string]bool, size int) {
	t.Helper()
	targets = map[string]bool{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		for line := range bytes.Lines(b) {
			var r audit.Record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %q: %v", path, line, err)
			}
			targets[r.Target] = true
		}
	}
	return targets, size
}

// Many hooks end at once; each of their lines is whole, also where the file is
// set aside between two of them.
func TestAFileIsWrittenByManyAtOnceAndDoesNotGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	ids := make([]event.ID, 100)
	for i := range ids {
		ids[i] = event.NewID(c.t)
	}
	const all = 500
	var wg sync.WaitGroup
	for n := range 10 {
		f := audit.NewFile(disk.OS, path, audit.LeastFile, c.now)
		wg.Go(func() {
			for i := range all / 10 {
				if err := f.Append(context.Background(), audit.Record{Target: fmt.Sprint(n*1000 + i), Events: ids}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	kept, size := linesOf(t, path, path+".1")
	if size > audit.LeastFile || size < audit.LeastFile/2 || len(kept) < all/4 {
		t.Errorf("%d bytes, %d records", size, len(kept))
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 { // the lock is the third
		t.Errorf("%v, %v", entries, err)
	}
}

func TestAFileThatCannotBeWrittenSaysSo(t *testing.T) {
	dir := t.TempDir()
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "gone/audit.jsonl"} {
		if err := audit.NewFile(disk.OS, filepath.Join(dir, name), 0, c.now).Append(t.Context(), audit.Record{}); err == nil {
			t.Errorf("%s is written to", name)
		}
	}
	path := filepath.Join(dir, "audit.jsonl")
	lock, err := disk.TryLock(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := audit.NewFile(disk.OS, path, 0, c.now).Append(ctx, audit.Record{}); err == nil {
		t.Error("a record is written beside the lock")
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"target":"cut sho`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := audit.NewFile(disk.OS, path, 0, c.now).Append(t.Context(), audit.Record{Target: "after"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b), "sho\n{") {
		t.Errorf("%q, %v", b, err)
	}
}
