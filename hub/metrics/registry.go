package metrics

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Registry is a list of things that are measured. It is safe for concurrent
// use. Nothing can be taken out of it.
type Registry struct {
	mu   sync.Mutex // guards list
	list []family
}

// A family is all series of one name.
type family interface {
	write(w *bufio.Writer)
}

func (r *Registry) add(f family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, f)
}

// WriteText writes all values as they are now, in the order in which their names
// were added.
func (r *Registry) WriteText(w io.Writer) error {
	r.mu.Lock()
	list := slices.Clone(r.list)
	r.mu.Unlock()
	b := bufio.NewWriter(w)
	for _, f := range list {
		f.write(b)
	}
	return b.Flush() // it remembers the first error of a write
}

// head is what stands above the series of a name.
type head struct{ name, help, kind string }

func (h head) write(w *bufio.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", h.name, helpEscapes.Replace(h.help), h.name, h.kind)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// line writes one value. Labels come in pairs of name and value.
func line(w *bufio.Writer, name string, value float64, labels ...string) {
	w.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		w.WriteByte("{,"[min(i, 1)])
		w.WriteString(labels[i] + `="` + labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "�")) + `"`)
	}
	if len(labels) > 0 {
		w.WriteByte('}')
	}
	w.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// A function is a value that is looked up.
type function struct {
	head
	value func() float64
}

func (f function) write(w *bufio.Writer) {
	f.head.write(w)
	line(w, f.name, f.value())
}

// Gauge adds a value that may go up and down. The function is called whenever
// somebody asks, maybe by several at once.
func (r *Registry) Gauge(name, help string, value func() float64) {
	r.add(function{head{name, help, "gauge"}, value})
}

// CounterFunc is Gauge for a value that only grows.
func (r *Registry) CounterFunc(name, help string, value func() float64) {
	r.add(function{head{name, help, "counter"}, value})
}
