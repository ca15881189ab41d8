package search

import (
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/internal/disk"
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
