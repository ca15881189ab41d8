package search

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
)

// A slowDisk takes its time for each segment, and counts those that it has.
type slowDisk struct {
	disk.FS
	segments atomic.Int32
}

func (d *slowDisk) Rename(from, to string) error {
	if filepath.Ext(to) == ".seg" {
		time.Sleep(5 * time.Millisecond)
		d.segments.Add(1)
	}
	return d.FS.Rename(from, to)
}

// Segments are in memory until the disk has taken them. However slow it is, there
// are no more of them than a few.
func TestARebuildWaitsForASlowDisk(t *testing.T) {
	t.Parallel()
	fsys := &slowDisk{FS: disk.OS}
	const steps = 80
	most := 0
	err := rebuild(t.Context(), home{fsys: fsys, dir: t.TempDir()}, func(put func(Batch) error) error {
		for n := range steps {
			id := func(n int) event.ID { return event.ID(fmt.Sprintf("%026d", n)) }
			b := Batch{Space: "team", Put: []Doc{{ID: id(n), Body: "a text"}}, Delete: []event.ID{id(steps)}} // all is put in its place first
			if err := put(b); err != nil {
				return err
			}
			most = max(most, n+1-int(fsys.segments.Load()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if most > 2*maxUnsaved {
		t.Errorf("%d segments of %d were in memory at once", most, steps)
	}
}

// A chunk is bounded in bytes, also if a note that is in it comes again and is
// longer then.
func TestAChunkDoesNotGrowWithNotesThatComeAgain(t *testing.T) {
	t.Parallel()
	b := &builder{ctx: t.Context(), chunk: newChunk(), seen: map[uint64]bool{}, seed: maphash.MakeSeed(), chunks: make(chan chunk)}
	go func() {
		for range b.chunks {
			b.running.Done()
		}
	}()
	defer close(b.chunks)
	largest := 0
	long := strings.Repeat("long text ", 90<<10)
	for _, body := range []string{"short", long} {
		for n := range 40 {
			d := Doc{ID: event.ID(fmt.Sprintf("%026d", n)), Body: body}
			if err := b.add("team", d); err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, d := range b.chunk.docs {
				size += len(d.Body)
			}
			largest = max(largest, size)
		}
	}
	if largest > chunkBytes {
		t.Errorf("a chunk has %d bytes, and should have %d at most", largest, chunkBytes)
	}
}

// However many segments there are, and whichever of them has which text of a note:
// the last text counts, and what was deleted after it stays away.
func TestARebuildOfManySegmentsHasTheLastOfEachNote(t *testing.T) {
	t.Parallel()
	h := home{fsys: disktest.Unsynced(disk.OS), dir: t.TempDir()}
	name, err := h.create()
	if err != nil {
		t.Fatal(err)
	}
	w, err := openWriter(newDirectory(h.fsys, h.path(name)), Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder(t.Context(), w)
	for _, s := range b.segmenters {
		s.size = 1 // each chunk becomes a segment
	}
	id := func(n int) event.ID { return event.ID(fmt.Sprintf("%026d", n)) }
	want := map[event.ID]int{} // in which pass it was put last
	for pass := range 3 {
		for from := 0; from < 1700; from += 100 {
			batch := Batch{Space: "team", Mark: Mark{Events: pass*1700 + from}}
			for n := from; n < from+100; n++ {
				if pass == 0 || n%(pass+1) == 0 {
					batch.Put = append(batch.Put, Doc{ID: id(n), Body: fmt.Sprintf("pass%d note%d", pass, n)})
					want[id(n)] = pass
				}
			}
			if from%700 == 600 {
				batch.Delete = []event.ID{id(from - 50), id(from + 30), id(from + 1000)}
				for _, gone := range batch.Delete {
					if n := from + 30; gone != id(n) || pass > 0 && n%(pass+1) != 0 {
						delete(want, gone)
					}
				}
			}
			if err := b.put(batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(b.finish(), w.compact(t.Context(), b.putMarks), w.close(), h.setCurrent(name)); err != nil {
		t.Fatal(err)
	}
	x, err := Open(h.dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if m, _, err := x.Mark("team"); err != nil || m.Events != 2*1700+1600 {
		t.Errorf("the mark is %+v (%v)", m, err)
	}
	got := map[event.ID]int{}
	for pass := range 3 {
		for n := range 2 { // MaxLimit is 1000
			only := func(of event.ID) bool { return of < id(850) == (n == 0) }
			r, err := x.Ask(t.Context(), Query{Text: fmt.Sprintf(`"pass%d"`, pass), Limit: MaxLimit, Keep: only})
			if err != nil {
				t.Fatal(err)
			}
			for _, hit := range r.Hits {
				if former, twice := got[hit.ID]; twice {
					t.Errorf("note %s has the texts of pass %d and %d", hit.ID, former, pass)
				}
				got[hit.ID] = pass
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d notes, or their texts, are not the %d that should be there", len(got), len(want))
	}
	if n, err := x.Count("team"); err != nil || n != len(want) {
		t.Errorf("%d notes (%v), want %d", n, err, len(want))
	}
}
