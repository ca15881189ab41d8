package memuse

import (
	"errors"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// ErrUnknown means that this system does not tell the memory of another
// process. Go on without it, and say so.
var ErrUnknown = errors.New("this system does not tell the memory of another process")

// A Use is what a process takes, in bytes.
type Use struct {
	Resident int64 // now, mapped files included
	Private  int64 // of that, what is not a file's
	Peak     int64 // the most that was ever resident, or since ForgetPeak
}

// Of is what the running process pid takes. Errors: ErrUnknown, or one of the
// system, such as that there is no such process.
func Of(pid int) (Use, error) { return of(pid) }

// ForgetPeak lets the peak of a process of the same user begin anew. Errors as
// for Of.
func ForgetPeak(pid int) error { return forgetPeak(pid) }

// Ended is the most that a process that has ended took, or one of those that it
// started and waited for. The error is ErrUnknown.
func Ended(p *os.ProcessState) (peak int64, err error) { return ended(p) }

// sampleEvery is how often the heap is looked at.
const sampleEvery = 5 * time.Millisecond

// heapObjects is what live and not yet swept objects take.
const heapObjects = "/memory/classes/heap/objects:bytes"

// Heap calls do and returns by how much this process's heap exceeded, at most,
// what it was before; garbage that was not collected yet counts. It looks every
// five milliseconds, so a shorter peak may be missed.
func Heap(do func() error) (peak int64, err error) {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second only
	before := heapNow()
	over, done := make(chan struct{}), make(chan int64)
	go func() { done <- watch(over) }()
	err = do()
	after := heapNow()
	close(over)
	return max(0, max(<-done, after)-before), err
}

func watch(over <-chan struct{}) (peak int64) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		peak = max(peak, heapNow())
		select {
		case <-over:
			return peak
		case <-tick.C:
		}
	}
}

func heapNow() int64 {
	sample := []metrics.Sample{{Name: heapObjects}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
