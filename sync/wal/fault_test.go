package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/faultfs"
	"cairn/sync/wal"
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// A story is a series of appends and new generations, and what of it is known to be durable.
type story struct {
	wait     bool // for each record
	mark     string
	synced   []string // of the generation that is certain to be there
	possible map[string][]string
}

// tell plays the story on f until an operation fails.
func (s *story) tell(f *wal.File) error {
	s.mark, s.possible = "first", map[string][]string{"first": nil}
	for gen := range 3 {
		for i := range 3 {
			p := fmt.Sprintf("record %d.%d %0*d", gen, i, 300*(3-gen), 0)
			mark := string(f.Mark())
			s.possible[mark] = append(s.possible[mark], p)
			if err := f.Append([]byte(p), s.wait); err != nil {
				return err
			}
			s.mark, s.synced = mark, slices.Clone(s.possible[mark])
		}
		next := fmt.Sprintf("generation %d", gen)
		s.possible[next] = nil
		s.synced = nil
		wait := gen == 1
		if err := f.Begin([]byte(next), wait); err != nil {
			return err
		}
		if wait {
			s.mark = next
		}
	}
	return nil
}

// check says what is wrong with a file that was found after a power cut.
func (s *story) check(f *wal.File) error {
	f.Rewind()
	var got []string
	for {
		p, err := f.Next()
		if err != nil {
			return err
		}
		if p == nil {
			break
		}
		got = append(got, string(p))
	}
	mark := string(f.Mark())
	all, known := s.possible[mark]
	if !known || len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
		return fmt.Errorf("mark %q with %q was never written", mark, got)
	}
	if mark == s.mark && len(got) < len(s.synced) {
		return fmt.Errorf("%d records of %q are left of %d that were durable", len(got), mark, len(s.synced))
	}
	if mark < s.mark && s.mark != "first" { // "first" is the greatest
		return fmt.Errorf("mark %q is back, %q was durable", mark, s.mark)
	}
	return nil
}

// cuts plays the story with a power cut at every operation and returns what is wrong afterwards.
func cuts(t *testing.T, wait bool) (wrong []error) {
	for n, done := 1, false; !done; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "wal")
		must(t, newFile(t, disktest.Unsynced(disk.OS), path).Close())
		faulty, err := faultfs.New(dir)
		must(t, err)
		f := open(t, faulty, path)
		faulty.DieAt(n)
		s := &story{wait: wait}
		done = s.tell(f) == nil
		for c := faultfs.Kept; c <= faultfs.Ended; c++ {
			after := filepath.Join(t.TempDir(), "after")
			must(t, faulty.Crash(after, faultfs.Survival{Contents: c}))
			found := open(t, disk.OS, filepath.Join(after, "wal"))
			if err := s.check(found); err != nil {
				wrong = append(wrong, fmt.Errorf("power cut at operation %d, %d: %w", n, c, err))
			}
		}
		if n > 200 {
			t.Fatal("the story takes more than 200 operations")
		}
	}
	return wrong
}

func TestPowerCuts(t *testing.T) {
	t.Parallel()
	for _, err := range cuts(t, true) {
		t.Error(err)
	}
}

// Without the wait for the disk the same test must find something.
func TestPowerCutsWithoutWaiting(t *testing.T) {
	t.Parallel()
	if len(cuts(t, false)) == 0 {
		t.Error("records that nobody waited for survive every power cut")
	}
}

func TestPowerCutsWhileAFileIsMade(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n++ {
		dir := t.TempDir()
		faulty, err := faultfs.New(dir)
		must(t, err)
		faulty.DieAt(n)
		done = wal.Create(faulty, filepath.Join(dir, "wal"), size) == nil
		for c := faultfs.Kept; c <= faultfs.Ended; c++ {
			for names := range faulty.Unsynced() + 1 {
				after := filepath.Join(t.TempDir(), "after")
				must(t, faulty.Crash(after, faultfs.Survival{Names: names, Contents: c}))
				f, err := wal.Open(disk.OS, filepath.Join(after, "wal"))
				if errors.Is(err, fs.ErrNotExist) && !done {
					continue
				}
				must(t, err)
				mustHold(t, "a new file", f, "")
				must(t, f.Close())
			}
		}
	}
}

// On a disk that fails an append fails, and the next one takes its place.
func TestAppendOnAFailingDisk(t *testing.T) {
	t.Parallel()
	for n, failed := 1, true; failed; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "wal")
		must(t, newFile(t, disktest.Unsynced(disk.OS), path).Close())
		faulty, err := faultfs.New(dir)
		must(t, err)
		f := open(t, faulty, path)
		faulty.FailAt(n)
		failed = f.Append([]byte("this one meets with an error"), true) != nil
		faulty.FailAt(0)
		want := []string{"this one meets with an error", "next"}
		if failed {
			want = want[1:]
		}
		must(t, f.Append([]byte("next"), true))
		after := filepath.Join(t.TempDir(), "after")
		must(t, faulty.Crash(after, faultfs.Survival{Contents: faultfs.Lost}))
		mustHold(t, fmt.Sprint("failure of operation ", n), open(t, disk.OS, filepath.Join(after, "wal")), "first", want...)
	}
}

func FuzzAnyFile(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "wal")
	must(f, wal.Create(disktest.Unsynced(disk.OS), path, wal.MinSize))
	blank, err := os.ReadFile(path)
	must(f, err)
	w, err := wal.Open(disktest.Unsynced(disk.OS), path)
	must(f, err)
	must(f, w.Begin([]byte("mark"), false))
	must(f, w.Append([]byte("record"), false))
	must(f, w.Append([]byte("another"), false))
	must(f, w.Close())
	used, err := os.ReadFile(path)
	must(f, err)
	f.Add(blank)
	f.Add(used)
	f.Add(used[:len(used)-100])
	f.Fuzz(func(t *testing.T, raw []byte) {
		w, err := wal.Open(inMemory{data: raw}, "wal")
		if err != nil {
			return
		}
		for _, p := range rest(t, w) {
			if len(p) == 0 || len(p) > len(raw) {
				t.Fatalf("a record of %d bytes in a file of %d", len(p), len(raw))
			}
		}
		must(t, w.Begin([]byte("begun"), false))
		must(t, w.Append([]byte("ours"), false))
		mustHold(t, "whatever was there", w, "begun", "ours")
	})
}

// inMemory is a file system with one file, which cannot grow.
type inMemory struct {
	disk.FS
	data []byte
}

type memoryFile struct {
	disk.File
	data []byte
}

func (m inMemory) OpenFile(string, int, fs.FileMode) (disk.File, error) {
	return memoryFile{data: slices.Clone(m.data)}, nil
}

func (f memoryFile) Close() error               { return nil }
func (f memoryFile) Name() string               { return "wal" }
func (f memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo{size: int64(len(f.data))}, nil }
func (f memoryFile) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(f.data).ReadAt(b, at)
}
func (f memoryFile) WriteAt(b []byte, at int64) (int, error) { return copy(f.data[at:], b), nil }

type memoryInfo struct {
	fs.FileInfo
	size int64
}

func (i memoryInfo) Size() int64 { return i.size }
