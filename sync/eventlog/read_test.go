package eventlog_test

import (
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// Whoever goes on after an event is given what follows, and what comes before is not read.
func TestWhatIsGoneOnAfterIsNotReadAgain(t *testing.T) {
	const n = 300
	l := create(t)
	var events []event.Event
	for range n {
		events = append(events, signed("one of many"))
	}
	save(t, l, events...)
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	all := ids(t, l)
	read := func(after event.ID) (got []event.ID) {
		err := l.AddedAfter(t.Context(), plumbing.ZeroHash, head.Tree, after, func(s eventlog.Stored) error {
			got = append(got, s.ID)
			return s.Err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, i := range []int{0, 1, n / 2, n - 2} {
		if got := read(all[i]); !slices.Equal(got, all[i+1:]) {
			t.Errorf("after %d: %d events, want %d", i, len(got), n-i-1)
		}
	}
	if got := read(""); !slices.Equal(got, all) {
		t.Errorf("%d events, want all", len(got))
	}
	whole := testing.AllocsPerRun(1, func() { read("") })
	if none := testing.AllocsPerRun(1, func() { read(all[n-1]) }); none > whole/4 {
		t.Errorf("%v allocations to read nothing, and %v to read all", none, whole)
	}
}
