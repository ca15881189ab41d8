package metrics

import (
	"bufio"
	"slices"
	"strconv"
	"sync"
)

// A Histogram counts values by their size. It is safe for concurrent use.
type Histogram struct {
	head
	bounds []float64

	mu     sync.Mutex // guards the rest
	counts []uint64   // values up to each bound, and not up to the one before; the last is of those beyond
	sum    float64
}

// Histogram adds a histogram with the upper bounds of its buckets, in order.
func (r *Registry) Histogram(name, help string, bounds ...float64) *Histogram {
	h := &Histogram{head: head{name, help, "histogram"}, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
	r.add(h)
	return h
}

// Observe counts a value.
func (h *Histogram) Observe(v float64) {
	at, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[at]++
	h.sum += v
}

func (h *Histogram) write(w *bufio.Writer) {
	h.mu.Lock()
	counts, sum := slices.Clone(h.counts), h.sum
	h.mu.Unlock()
	h.head.write(w)
	total := uint64(0)
	for i, n := range counts {
		total += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		line(w, h.name+"_bucket", float64(total), "le", bound)
	}
	line(w, h.name+"_sum", sum)
	line(w, h.name+"_count", float64(total))
}
