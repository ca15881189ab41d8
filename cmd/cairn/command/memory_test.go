package command

import "testing"

func TestMemoryIsGivenBackOnceWhenWorkIsOver(t *testing.T) {
	var r rest
	total := uint64(0)
	for i, look := range []struct {
		more uint64 // allocated since the look before
		want bool
	}{
		{100 << 20, false},     // work begins
		{50 << 20, false},      // and goes on
		{restBytes / 2, true},  // it is over
		{0, false},             // there is nothing more to give
		{restBytes / 2, false}, // a little is not worth it
		{restBytes, false},     // nor is this
		{workBytes, false},     // work again
		{restBytes - 1, true},  // over again
		{workBytes, false},     // and so on
		{workBytes, false},     // as long as it lasts
		{0, true},              // until it is over
		{0, false}, {0, false}, {0, false},
	} {
		total += look.more
		if got := r.begins(total); got != look.want {
			t.Errorf("look %d after %d bytes: %v", i, look.more, got)
		}
	}
}

// A process that allocates a little now and then has garbage at last.
func TestMemoryIsGivenBackAfterManySmallThings(t *testing.T) {
	var r rest
	total, given := uint64(0), 0
	for range 100 {
		total += workBytes / 16
		if r.begins(total) {
			given++
		}
	}
	if given != 100/16 {
		t.Errorf("given back %d times, want once for each %d bytes", given, workBytes)
	}
}

func TestAllocatedCountsUp(t *testing.T) {
	before := allocated()
	b := make([]byte, 8<<20)
	if after := allocated(); after < before+uint64(len(b)) {
		t.Errorf("%d bytes were allocated before and %d after %d more", before, after, len(b))
	}
}
