package catchup

import (
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// What the index has, or reached on another way, is not kept in memory: it may
// have been purged since.
func TestOnlyWhatTheIndexLacksIsKept(t *testing.T) {
	t.Parallel()
	tree := func(n byte) plumbing.Hash { return plumbing.Hash{n} }
	appends := func() *recent {
		r := &recent{}
		for n := range byte(3) {
			r.add(appended{from: tree(n), to: tree(n + 1), events: []eventlog.Stored{{ID: event.ID(rune('a' + n)), Bytes: []byte("text")}}})
		}
		return r
	}
	for at, want := range map[byte]int{0: 3, 1: 2, 2: 1, 3: 0, 9: 0} {
		r := appends()
		r.keepFrom(tree(at))
		if n := len(r.all()); n != want || r.bytes != 4*want {
			t.Errorf("with the index at tree %d, %d events of %d bytes are kept, want %d", at, n, r.bytes, want)
		}
	}
	if events, ok := appends().between(tree(1), tree(3)); !ok || len(events) != 2 {
		t.Errorf("between two trees: %v, %v", events, ok)
	}
}
