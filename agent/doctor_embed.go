package agent

import (
	"errors"
	"fmt"

	"cairn/agent/catchup"
	"cairn/search/embed"
)

// embedder says whether notes can be given vectors, and how many have none. It
// says nothing where nobody has set an embedder.
func (d *doctor) embedder() {
	setting := d.a.embedder
	if setting == "" {
		return
	}
	n, err := d.a.Embedding(d.ctx)
	if errors.Is(err, catchup.ErrBehind) { // the check of the index says why
		d.add("embedder", setting, nil, "")
		return
	}
	detail := fmt.Sprintf("%s; %d of %d notes have a vector", setting, n.Notes-n.Missing-n.Unknown, n.Notes)
	switch {
	case n.Missing > 0 && embed.NewSource(setting).Slow():
		detail += fmt.Sprintf(", %d get theirs in the background", n.Missing)
	case n.Missing > 0:
		detail += fmt.Sprintf(", %d wait for \"cairn embed\"", n.Missing)
	}
	d.add("embedder", detail, err, "")
}
