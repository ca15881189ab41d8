package catchup

import (
	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/eventlog"
)

// maxRecent is how much of what was appended is kept for the index, in bytes.
// What is more is read back from the log.
const maxRecent = 8 << 20

// recent is what this process has appended and the index may lack, so that it
// need not be read back: one append after the other, each of which begins
// where the one before it has ended.
type recent struct {
	list  []appended
	bytes int
}

// appended is the events of one append, and the trees before and after it.
type appended struct {
	from, to plumbing.Hash
	events   []eventlog.Stored
}

func (r *recent) add(a appended) {
	last := len(r.list) - 1
	if r.bytes > maxRecent || last >= 0 && r.list[last].to != a.from {
		*r = recent{}
	}
	r.list = append(r.list, a)
	for _, e := range a.events {
		r.bytes += len(e.Bytes)
	}
}

// all is every event, oldest first.
func (r *recent) all() (events []eventlog.Stored) {
	for _, a := range r.list {
		events = append(events, a.events...)
	}
	return events
}

// between is the events between two trees, unless not all of them are known.
func (r *recent) between(from, to plumbing.Hash) (events []eventlog.Stored, ok bool) {
	inside := false
	for _, a := range r.list {
		inside = inside || a.from == from
		if !inside {
			continue
		}
		events = append(events, a.events...)
		if a.to == to {
			return events, true
		}
	}
	return nil, false
}

// drop lets go of what leads up to a tree.
func (r *recent) drop(to plumbing.Hash) {
	for i, a := range r.list {
		if a.to != to {
			continue
		}
		rest := r.list[i+1:]
		*r = recent{}
		for _, a := range rest {
			r.add(a)
		}
		return
	}
}
