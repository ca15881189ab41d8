package catchup

import (
	"context"

	"cairn/agent/projection"
	"cairn/internal/event"
)

// A Difference is what the rows of the index and the facts of a space disagree
// in. Keeper.Rebuild puts it right.
type Difference struct {
	Missing []event.ID // events without a row
	Extra   []event.ID // rows without an event, or of one that must not be found
}

// Compare looks at every row of the space, which should be level.
func (s *Space) Compare(ctx context.Context) (Difference, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	want := map[event.ID]bool{}
	s.Facts(func(set *projection.Set) {
		for id := range set.Searchable(s.finds) {
			if !s.hidden(id) {
				want[id] = true
			}
		}
	})
	var d Difference
	err := s.keeper.access.read(func(x rows) error {
		return x.IDs(s.name, func(id event.ID) error {
			if !want[id] {
				d.Extra = append(d.Extra, id)
			}
			delete(want, id)
			return ctx.Err()
		})
	})
	for id := range want {
		d.Missing = append(d.Missing, id)
	}
	return d, err
}
