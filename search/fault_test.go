package search_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/search"
)

func stepBatch(step int) search.Batch {
	b := search.Batch{Space: "team", Mark: search.Mark{Events: step + 1}}
	for i := range notesPerStep {
		b.Put = append(b.Put, search.Doc{ID: stepID(step, i), Title: fmt.Sprint("step", step), Body: "a note that falls with its step"})
		if step%5 == 4 { // and takes those of another one away
			b.Delete = append(b.Delete, stepID(step-2, i))
		}
	}
	return b
}

func applyStep(t *testing.T, x *search.Index, step int) {
	t.Helper()
	if err := x.Apply(t.Context(), stepBatch(step)); err != nil {
		t.Fatal(err)
	}
}

// survivals are the ways in which a power cut may treat what was not synced.
func survivals(unsynced int) []faultfs.Survival {
	var out []faultfs.Survival
	for _, names := range []int{0, unsynced / 2, unsynced} {
		for _, c := range []faultfs.Contents{faultfs.Kept, faultfs.Lost, faultfs.Halved, faultfs.Zeroed} {
			out = append(out, faultfs.Survival{Names: names, Contents: c})
		}
	}
	return out
}

// afterPowerCut checks every way in which the power may have gone now: the
// index opens with whole steps, and with no fewer than least.
func afterPowerCut(t *testing.T, fsys *faultfs.FS, least int) {
	t.Helper()
	for i, s := range survivals(fsys.Unsynced()) {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := fsys.Crash(dir, s); err != nil {
			t.Fatal(err)
		}
		x, err := search.Open(dir, search.Options{})
		if err != nil {
			t.Fatalf("after a power cut with %+v: %v", s, err)
		}
		m, _, err := x.Mark("team")
		if err != nil || m.Events < least {
			t.Fatalf("after a power cut with %+v there are %d steps (%v), want at least %d", s, m.Events, err, least)
		}
		checkSteps(t, x, m.Events)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNotesAndMarkSurviveAPowerCutTogether(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fsys, err := faultfs.New(root)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for round := range 3 {
		x, err := search.Open(root, search.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		saved := steps
		for range 4 + 5*round {
			applyStep(t, x, steps)
			steps++
		}
		afterPowerCut(t, fsys, saved)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		afterPowerCut(t, fsys, steps)
	}
}

// Whatever single operation of the file system fails: a step is either applied
// or refused, and what Close called saved is there when the disk works again.
func TestAnOperationThatFailsIsRepeatedOrReported(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 40; n++ {
		root := t.TempDir()
		fsys, err := faultfs.New(root)
		if err != nil {
			t.Fatal(err)
		}
		var troubles atomic.Int32
		opt := search.Impatient(search.Options{FS: fsys, Trouble: func(error) { troubles.Add(1) }})
		fsys.FailAt(n)
		x, err := search.Open(root, opt)
		if err != nil {
			if !errors.Is(err, faultfs.ErrInjected) {
				t.Fatalf("operation %d: Open: %v", n, err)
			}
			open(t, root)
			continue
		}
		for step := range 3 {
			if err := x.Apply(t.Context(), stepBatch(step)); errors.Is(err, faultfs.ErrInjected) {
				applyStep(t, x, step)
			} else if err != nil {
				t.Fatalf("operation %d: Apply: %v", n, err)
			}
		}
		checkSteps(t, x, 3)
		if err := x.Close(); err != nil {
			t.Fatalf("operation %d: Close: %v (%d troubles)", n, err, troubles.Load())
		}
		checkSteps(t, open(t, root), 3)
	}
}

// A fullDisk lets nothing be written once it is full.
type fullDisk struct {
	disk.FS
	full atomic.Bool
}

var errFull = errors.New("no space left on the device")

func (d *fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if d.full.Load() && flag&os.O_CREATE != 0 {
		return nil, errFull
	}
	return d.FS.OpenFile(name, flag, perm)
}

func TestAFullDiskIsReportedAndSearchGoesOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	fsys := &fullDisk{FS: disk.OS}
	troubles := make(chan error, 100)
	opt := search.Impatient(search.Options{FS: fsys, Trouble: func(err error) {
		select {
		case troubles <- err:
		default:
		}
	}})
	x, err := search.Open(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	applyStep(t, x, 0)
	fsys.full.Store(true)
	applyStep(t, x, 1)
	checkSteps(t, x, 2)
	if err := <-troubles; err == nil {
		t.Error("trouble without an error")
	}
	if err := x.Close(); err == nil {
		t.Error("Close says that all is saved")
	}
	fsys.full.Store(false)
	x = open(t, root)
	m, _, err := x.Mark("team")
	if err != nil {
		t.Fatal(err)
	}
	checkSteps(t, x, m.Events)
}

func TestStrayFilesAreNoTrouble(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	d := note(1, "still found")
	apply(t, x, "team", d)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README", "hello.seg", "12.seg", "ffffffffffff.seg", "000000000001.seg.tmp", "zz.snp"} {
		if err := os.WriteFile(filepath.Join(dir, "gen-1", name), []byte("stray"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x = open(t, dir)
	wantHits(t, ask(t, x, "found"), d)
	if _, err := os.Stat(filepath.Join(dir, "gen-1", "ffffffffffff.seg")); !os.IsNotExist(err) {
		t.Errorf("a segment that no snapshot needs is still there (%v)", err)
	}
}

// damage changes the largest file with that ending.
func damage(t *testing.T, dir, ending string, change func([]byte) []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "gen-1", "*"+ending))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s to damage (%v)", ending, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if b = change(b); b == nil {
			err = os.Remove(f)
		} else {
			err = os.WriteFile(f, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamageIsToldFromEmptiness(t *testing.T) {
	half := func(b []byte) []byte { return b[:len(b)/2] }
	gone := func([]byte) []byte { return nil }
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"snapshots cut off": func(t *testing.T, dir string) { damage(t, dir, ".snp", half) },
		"snapshots empty":   func(t *testing.T, dir string) { damage(t, dir, ".snp", func(b []byte) []byte { return b[:0] }) },
		"segments cut off":  func(t *testing.T, dir string) { damage(t, dir, ".seg", half) },
		"segments missing":  func(t *testing.T, dir string) { damage(t, dir, ".seg", gone) },
		"no schema":         func(t *testing.T, dir string) { damage(t, dir, "schema", gone) },
		"a garbled schema":  func(t *testing.T, dir string) { damage(t, dir, "schema", func([]byte) []byte { return []byte("x") }) },
		"a garbled pointer": func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "current"), "nowhere") },
		"a missing pointee": func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "current"), "gen-9") },
		"segments of zeros": func(t *testing.T, dir string) {
			damage(t, dir, ".seg", func(b []byte) []byte { return make([]byte, len(b)) })
		},
		"snapshots of zeros": func(t *testing.T, dir string) {
			damage(t, dir, ".snp", func(b []byte) []byte { return make([]byte, len(b)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			x := open(t, dir)
			apply(t, x, "team", note(1, "a text"), note(2, "another text"))
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, dir)
			_, err := search.Open(dir, search.Options{})
			if _, ok := errors.AsType[*search.DamagedError](err); !ok {
				t.Fatalf("Open: %v, want a DamagedError", err)
			}
			rebuilt := note(3, "rebuilt")
			err = search.Rebuild(t.Context(), dir, func(put func(search.Batch) error) error {
				return put(search.Batch{Space: "team", Put: []search.Doc{rebuilt}})
			})
			if err != nil {
				t.Fatalf("Rebuild over damage: %v", err)
			}
			wantHits(t, ask(t, open(t, dir), "rebuilt"), rebuilt)
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherSchemaIsToldFromDamage(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "gen-1", "schema"), "999\n")
	_, err := search.Open(dir, search.Options{})
	if e, ok := errors.AsType[*search.SchemaError](err); !ok || e.Have != 999 {
		t.Fatalf("Open: %v, want a SchemaError that has 999", err)
	}
	if _, err := search.OpenReader(dir); err == nil {
		t.Error("OpenReader takes another schema")
	}
}

// Flipped bytes in a segment are what nothing checks when it is opened. An
// answer may then be wrong; the process must not end.
func TestFlippedBytesEndNothing(t *testing.T) {
	t.Parallel()
	const flips = 30
	for seed := range flips {
		flip(t, func(length int) int { return length * seed / flips })
	}
}

// The rows of a segment are the last bytes of its file.
func TestFlippedRowsEndNothing(t *testing.T) {
	t.Parallel()
	const notes, rowAndMore = 4, 60
	for back := flipped; back < notes*rowAndMore; back += flipped {
		flip(t, func(length int) int { return length - back })
	}
}

// flipped is how many bytes flip turns around.
const flipped = 8

// flip uses an index of which some bytes of each segment are flipped.
func flip(t *testing.T, place func(length int) int) {
	t.Helper()
	dir := t.TempDir()
	x := open(t, dir)
	apply(t, x, "team", note(1, "redis cache timeout"), note(2, "cache file-lock useEffect"), note(3, "文件锁"))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, dir, ".seg", func(b []byte) []byte {
		at := place(len(b))
		for i := at; i < min(at+flipped, len(b)); i++ {
			b[i] ^= 0xff
		}
		return b
	})
	useDamaged(t, dir)
}

func useDamaged(t *testing.T, dir string) {
	t.Helper()
	askDamaged(t, dir)
	x, err := search.Open(dir, search.Impatient(search.Options{}))
	wantDamage(t, "open", err)
	if err != nil {
		return
	}
	defer x.Close()
	for _, q := range []string{"cache", "cach", "redis timeout", `"cache file"`, "文件", "lokc", "use OR lock", "kind:note since:7d"} {
		_, err := x.Ask(t.Context(), search.Query{Text: q})
		wantDamage(t, q, err)
	}
	x.Count("team")
	x.Mark("team")
	x.IDs("team", func(event.ID) error { return nil })
	err = x.Apply(t.Context(), search.Batch{Space: "team", Put: []search.Doc{note(1, "another text"), note(9, "more")}})
	wantDamage(t, "apply", err)
}

// wantDamage takes an answer as well, for not all damage is seen, and a mark
// whose first byte is damaged looks like one of another layout.
func wantDamage(t *testing.T, what string, err error) {
	t.Helper()
	_, other := errors.AsType[*search.SchemaError](err)
	if _, ok := errors.AsType[*search.DamagedError](err); err != nil && !ok && !other {
		t.Fatalf("%s: %v, want a DamagedError", what, err)
	}
}

func askDamaged(t *testing.T, dir string) {
	t.Helper()
	r, err := search.OpenReader(dir)
	wantDamage(t, "open a reader", err)
	if err != nil {
		return
	}
	defer r.Close()
	for _, q := range []string{"cache", "since:2000-01-01"} {
		_, err := r.Ask(t.Context(), search.Query{Text: q})
		wantDamage(t, q, err)
	}
	wantDamage(t, "list the ids", r.IDs("team", func(event.ID) error { return nil }))
}

func TestCheckSeesAFlippedBit(t *testing.T) {
	t.Parallel()
	const places = 15
	for i := range places {
		dir := t.TempDir()
		x := open(t, dir)
		apply(t, x, "team", note(1, "redis cache timeout"), note(2, "文件锁"))
		if err := x.Check(t.Context()); err != nil {
			t.Fatalf("Check of a sound index that may not be on disk yet: %v", err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		x = open(t, dir)
		if err := x.Check(t.Context()); err != nil {
			t.Fatalf("Check of a sound index: %v", err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		damage(t, dir, ".seg", func(b []byte) []byte {
			b[(len(b)-1)*i/(places-1)] ^= 1
			return b
		})
		x, err := search.Open(dir, search.Options{})
		if err == nil {
			err = x.Check(t.Context())
			x.Close()
		}
		if _, ok := errors.AsType[*search.DamagedError](err); !ok {
			t.Errorf("place %d of %d: %v, want a DamagedError", i, places, err)
		}
	}
}
