package search

import (
	"cairn/internal/event"
	"cairn/search/segfile"
)

// rows are what a segment says of its documents by their numbers. A document
// without an id is the mark of its space.
type rows struct{ *segfile.Rows }

func (r rows) id(doc uint32) event.ID { return event.ID(r.ID(doc)) }

func (r rows) marks() []uint32 { return r.Nameless() }

// isOf says that a document is a note of a space.
func (r rows) isOf(doc uint32, space string) bool { return r.Start(doc) != 0 && r.Space(doc) == space }
