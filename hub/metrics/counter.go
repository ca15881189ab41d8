package metrics

import (
	"bufio"
	"maps"
	"slices"
	"strings"
	"sync"
)

// MaxSeries is how many series a counter keeps. What has other labels is
// counted under Other.
const MaxSeries = 100

// Other stands for all values of labels beyond MaxSeries.
const Other = "(other)"

// A Counter counts, apart for each set of values of its labels. It is safe for
// concurrent use.
type Counter struct {
	head
	labels []string

	mu     sync.Mutex       // guards series
	series map[string]int64 // by the values of the labels, with separators between
}

// Counter adds a counter with the names of its labels. One without labels is 0
// from the beginning; the others have no series before they are counted.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{head: head{name, help, "counter"}, labels: labels, series: map[string]int64{}}
	if len(labels) == 0 {
		c.Add(0)
	}
	r.add(c)
	return c
}

const separator = "\x00"

// Add counts n more under values, one for each label.
func (c *Counter) Add(n int64, values ...string) {
	key := strings.Join(values, separator)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.series[key]; !known && len(c.series) >= MaxSeries {
		key = strings.Join(slices.Repeat([]string{Other}, len(c.labels)), separator)
	}
	c.series[key] += n
}

func (c *Counter) write(w *bufio.Writer) {
	c.mu.Lock()
	now := maps.Clone(c.series)
	c.mu.Unlock()
	c.head.write(w)
	for _, key := range slices.Sorted(maps.Keys(now)) {
		var labels []string
		if len(c.labels) > 0 {
			for i, v := range strings.SplitN(key, separator, len(c.labels)) {
				labels = append(labels, c.labels[i], v)
			}
		}
		line(w, c.name, float64(now[key]), labels...)
	}
}
