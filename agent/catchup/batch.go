package catchup

import (
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/search"
	"cairn/search/embed"
	"cairn/sync/eventlog"
)

// The size of one step of the index.
const (
	stepDocs  = 1000
	stepBytes = 8 << 20
)

// A batcher turns events into steps of the index. All but the last carry the
// mark that held before.
type batcher struct {
	space *Space
	from  search.Mark
	apply func(search.Batch) error
	count func() // called for each event, may be nil

	former map[event.ID]embed.Vector // of rows that are made anew; may be nil

	batch   search.Batch
	bytes   int
	deleted bool // something, in any step
}

func (b *batcher) add(s eventlog.Stored) error {
	if b.count != nil {
		b.count()
	}
	if s.Err != nil { // of a newer program: kept and listed, not understood; or damaged
		return nil
	}
	if p, ok := s.Event.Payload.(*event.Redact); ok {
		b.batch.Delete = append(b.batch.Delete, p.Target)
	}
	if b.space.finds(s.Event.Kind) && !b.space.unsearchable(s.ID) {
		d := docOf(s.Event, b.space.keeper.embedder())
		if d.Meaning == nil {
			d.Meaning = b.former[s.ID]
		}
		if d.Meaning == nil {
			b.space.unplace(s.Event)
		}
		b.batch.Put = append(b.batch.Put, d)
		b.bytes += len(s.Bytes)
	}
	if len(b.batch.Put) < stepDocs && b.bytes < stepBytes {
		return nil
	}
	return b.finish(b.from)
}

// finish applies what has come together, and the mark.
func (b *batcher) finish(mark search.Mark) error {
	b.batch.Space, b.batch.Mark = b.space.name, mark
	b.deleted = b.deleted || len(b.batch.Delete) > 0
	err := b.apply(b.batch)
	b.batch, b.bytes = search.Batch{}, 0
	return err
}

// finds says whether events of a kind belong into the index. What a hub records
// is looked for like any other memory, in the space it is in.
func (s *Space) finds(k event.Kind) bool {
	return k.Searchable() || k == event.KindAudit && s.name == hubwire.Audit
}

// unsearchable says whether the event must not be found, whatever its kind.
func (s *Space) unsearchable(id event.ID) bool {
	redacted := false
	s.Facts(func(set *projection.Set) { redacted = set.Redacted(id) })
	return redacted || s.hidden(id)
}
