package wal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/sync/wal"
)

// size is that of the files in these tests: 8 KiB of headers and 8 KiB of records.
const size = 16 << 10

type tester interface {
	Helper()
	Fatal(...any)
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFile makes a file on fsys with its first generation begun.
func newFile(t *testing.T, fsys disk.FS, path string) *wal.File {
	t.Helper()
	must(t, wal.Create(fsys, path, size))
	f := open(t, fsys, path)
	must(t, f.Begin([]byte("first"), true))
	return f
}

func open(t testing.TB, fsys disk.FS, path string) *wal.File {
	t.Helper()
	f, err := wal.Open(fsys, path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// rest reads all records that Next has to offer.
func rest(t tester, f *wal.File) (all []string) {
	t.Helper()
	for {
		p, err := f.Next()
		must(t, err)
		if p == nil {
			return all
		}
		all = append(all, string(p))
	}
}

func mustHold(t tester, what string, f *wal.File, mark string, want ...string) {
	t.Helper()
	f.Rewind()
	if got := rest(t, f); string(f.Mark()) != mark || !slices.Equal(got, want) {
		t.Fatal(fmt.Sprintf("%s: mark %q with %q, want %q with %q", what, f.Mark(), got, mark, want))
	}
}

func TestRecordsReadBackInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	must(t, f.Append([]byte("one"), true))
	must(t, f.Append([]byte("two"), false))
	mustHold(t, "here", f, "first", "one", "two")
	mustHold(t, "opened again", open(t, disk.OS, path), "first", "one", "two")
	must(t, f.Retract())
	mustHold(t, "after taking one back", open(t, disk.OS, path), "first", "one")
	must(t, f.Begin([]byte("second"), true))
	mustHold(t, "begun again", open(t, disk.OS, path), "second")
}

func TestANewFileHoldsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	if _, err := wal.Open(disk.OS, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	must(t, wal.Create(disk.OS, path, size))
	f := open(t, disk.OS, path)
	mustHold(t, "new", f, "")
	if err := f.Append([]byte("x"), true); err == nil {
		t.Error("a record was taken before a generation was begun")
	}
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := wal.Create(disk.OS, path, wal.MinSize-1); err == nil {
		t.Error("a file without room was made")
	}
}

func TestNothingIsLeftOfWhatWasErased(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	must(t, f.Append(bytes.Repeat([]byte("hidden"), f.Capacity()/6), true))
	must(t, f.Begin([]byte("second"), true))
	must(t, f.Append([]byte("hidden again"), true))
	must(t, f.Erase())
	raw, err := os.ReadFile(path)
	must(t, err)
	if len(raw) != size || bytes.Contains(raw, []byte("hidden")) {
		t.Errorf("of %d bytes some are left, or the size has changed: it is %d", size, len(raw))
	}
	mustHold(t, "erased", open(t, disk.OS, path), "")
	must(t, f.Begin([]byte("third"), true))
	must(t, f.Append([]byte("seen"), true))
	mustHold(t, "used again", open(t, disk.OS, path), "third", "seen")
}

func TestAReaderChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	if _, err := wal.OpenToRead(disk.OS, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	f := newFile(t, disk.OS, path)
	must(t, f.Append([]byte("one"), true))
	must(t, os.Chmod(path, 0o444))
	r, err := wal.OpenToRead(disk.OS, path)
	must(t, err)
	defer r.Close()
	mustHold(t, "a reader", r, "first", "one")
	if err := r.Append([]byte("two"), true); err == nil {
		t.Error("a reader has written")
	}
}

func TestWhatDoesNotFitIsNotWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	if err := f.Append(make([]byte, f.Capacity()+1), true); !errors.Is(err, wal.ErrFull) {
		t.Errorf("too long for the file: %v", err)
	}
	whole := bytes.Repeat([]byte("x"), f.Capacity())
	must(t, f.Append(whole, true))
	mustHold(t, "one that fits exactly", open(t, disk.OS, path), "first", string(whole))
	must(t, f.Begin(nil, true))
	must(t, f.Append([]byte("short"), true))
	if err := f.Append(make([]byte, f.Room()+1), true); !errors.Is(err, wal.ErrFull) {
		t.Errorf("too long for what is left: %v", err)
	}
	must(t, f.Append(make([]byte, f.Room()), true))
	if f.Room() != 0 {
		t.Errorf("room for %d more", f.Room())
	}
	if err := f.Append([]byte("x"), true); !errors.Is(err, wal.ErrFull) {
		t.Errorf("full to the last byte: %v", err)
	}
}

// A record of an older generation is none, even where a new one ends right before it.
func TestOldRecordsDoNotComeBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	for i := range 4 {
		must(t, f.Append(fmt.Appendf(nil, "old %d", i), true))
	}
	must(t, f.Begin([]byte("second"), true))
	must(t, f.Append([]byte("new 0"), true))
	mustHold(t, "begun again", open(t, disk.OS, path), "second", "new 0")
	must(t, f.Append([]byte("new 1"), true))
	must(t, f.Retract())
	must(t, f.Append([]byte("new"), true)) // shorter: what follows it is half of "new 1"
	mustHold(t, "retracted", open(t, disk.OS, path), "second", "new 0", "new")
}

// A payload may hold what looks like a record, and it may come to stand where the next record is looked for.
func TestARecordInsideAPayloadIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The bytes of a real record of a file with the same history.
	twin := newFile(t, disk.OS, filepath.Join(dir, "twin"))
	must(t, twin.Append([]byte("a"), true))
	must(t, twin.Append([]byte("smuggled in"), true))
	raw, err := os.ReadFile(filepath.Join(dir, "twin"))
	must(t, err)
	at := bytes.Index(raw, []byte("smuggled in")) - 8
	record := raw[at : at+8+len("smuggled in")]

	path := filepath.Join(dir, "wal")
	f := newFile(t, disk.OS, path)
	must(t, f.Append(append([]byte("b"), record...), true)) // it begins where a record behind "b" would
	must(t, f.Retract())
	must(t, f.Append([]byte("b"), true))
	mustHold(t, "after the retraction", open(t, disk.OS, path), "first", "b")
}

func TestFilesThatAreNoneOfOurs(t *testing.T) {
	t.Parallel()
	spoil := func(raw []byte, at int) { raw[at] ^= 0xff }
	for name, change := range map[string]func(raw []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"short":          func(raw []byte) []byte { return raw[:wal.MinSize-1] },
		"both spoiled":   func(raw []byte) []byte { spoil(raw, 20); spoil(raw, 4096+20); return raw },
		"of another use": func(raw []byte) []byte { return bytes.Repeat([]byte("hello "), len(raw)/6) },
	} {
		path := filepath.Join(t.TempDir(), "wal")
		f := newFile(t, disk.OS, path)
		must(t, f.Begin([]byte("second"), true))
		raw, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, change(raw), 0o600))
		_, err = wal.Open(disk.OS, path)
		if d, ok := errors.AsType[*wal.DamagedError](err); !ok || d.Path != path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFileOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	must(t, f.Append([]byte("one"), true))
	raw, err := os.ReadFile(path)
	must(t, err)
	at := bytes.Index(raw, []byte("cairnwal"))
	binary.LittleEndian.PutUint32(raw[at+12:], 2)
	binary.LittleEndian.PutUint32(raw[at+8:], checksum(raw[at+12:at+512]))
	must(t, os.WriteFile(path, raw, 0o600))
	_, err = wal.Open(disk.OS, path)
	if n, ok := errors.AsType[*wal.NewerError](err); !ok || n.Version != 2 || n.Path != path {
		t.Errorf("got %v", err)
	}
}

// With one spoiled header the generation before is in force again, with all that it held.
func TestAHeaderThatWasTorn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wal")
	f := newFile(t, disk.OS, path)
	must(t, f.Append([]byte("one"), true))
	must(t, f.Begin([]byte("second"), true))
	raw, err := os.ReadFile(path)
	must(t, err)
	raw[bytes.Index(raw, []byte("second"))]++
	must(t, os.WriteFile(path, raw, 0o600))
	mustHold(t, "after a torn Begin", open(t, disk.OS, path), "first", "one")
}

// Two processes that take turns, and now and then begin anew, agree with a plain list.
func TestTakingTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "wal")
		must(t, wal.Create(disktest.Unsynced(disk.OS), path, size))
		var files [2]*wal.File
		for i := range files {
			f, err := wal.Open(disktest.Unsynced(disk.OS), path)
			must(t, err)
			defer f.Close()
			files[i] = f
		}
		must(t, files[0].Begin([]byte("0"), true))
		mark, want := "0", []string(nil)
		for n := range rapid.IntRange(0, 40).Draw(t, "turns") {
			f := files[rapid.IntRange(0, 1).Draw(t, "process")]
			_, err := f.Refresh()
			must(t, err)
			rest(t, f)
			payload := rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "payload")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				mark, want = fmt.Sprint(n), nil
				must(t, f.Begin([]byte(mark), rapid.Bool().Draw(t, "wait")))
			case 1:
				if f.Append(payload, false) == nil {
					must(t, f.Retract())
				}
			default:
				err := f.Append(payload, rapid.Bool().Draw(t, "wait"))
				if err == nil {
					want = append(want, string(payload))
				} else if !errors.Is(err, wal.ErrFull) {
					t.Fatal(err)
				}
			}
			mustHold(t, "the same process", f, mark, want...)
		}
		for _, f := range files {
			_, err := f.Refresh()
			must(t, err)
			mustHold(t, "in the end", f, mark, want...)
		}
	})
}
