package catchup

import (
	"slices"

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

// keepFrom lets go of everything but what begins at a tree.
func (r *recent) keepFrom(tree plumbing.Hash) {
	at := slices.IndexFunc(r.list, func(a appended) bool { return a.from == tree })
	if at < 0 {
		*r = recent{}
		return
	}
	rest := r.list[at:]
	*r = recent{}
	for _, a := range rest {
		r.add(a)
	}
}
