package command

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapGoal is what a hub or an agent should get along with. Both need much less
// but for a while, when a long history goes over at once; then it is better to
// collect garbage more often than to grow to twice of what is in use.
const heapGoal = 200 << 20

// beModest makes a process that lives long keep to heapGoal, unless the user
// has said something else in Go's own variable, and give back what it does not
// need whenever it comes to rest, until ctx ends.
func beModest(ctx context.Context) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapGoal)
	}
	go giveBack(ctx)
}

const (
	// restEvery is how often to look whether the process rests.
	restEvery = 3 * time.Second
	// restBytes is how little it has allocated since the last look, then.
	restBytes = 1 << 20
	// workBytes is after how much allocated memory giving back is worth a
	// collection. By itself the runtime collects when the heap has doubled,
	// which in a process at rest may never be.
	workBytes = 8 << 20
)

// giveBack lets the system have what the process does not need, each time that
// it comes to rest.
func giveBack(ctx context.Context) {
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	var r rest
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.begins(allocated()) {
			debug.FreeOSMemory()
		}
	}
}

// A rest knows how much had been allocated at the last look, and when memory
// was given back last.
type rest struct{ last, freed uint64 }

// begins says whether there was work, and is none now, given how much has ever
// been allocated.
func (r *rest) begins(now uint64) bool {
	quiet := now-r.last < restBytes
	r.last = now
	if !quiet || now-r.freed < workBytes {
		return false
	}
	r.freed = now
	return true
}

// allocated is how many bytes the process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
