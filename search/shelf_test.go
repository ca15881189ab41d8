package search

import (
	"strconv"
	"testing"
)

func TestAShelfKeepsWhatIsAskedForOften(t *testing.T) {
	s := shelf[int]{size: 8}
	reads := map[int]int{}
	get := func(n int) {
		got, err := s.get(strconv.Itoa(n), func() (int, error) { reads[n]++; return n, nil })
		if got != n || err != nil {
			t.Fatalf("%d: %d, %v", n, got, err)
		}
		if kept := len(s.kept) + len(s.former); kept > 2*s.size {
			t.Fatalf("%d things on a shelf of 2 x %d", kept, s.size)
		}
	}
	for n := range 100 {
		get(-1)
		get(n)
	}
	if reads[-1] != 1 {
		t.Errorf("what was asked for all the time was read %d times", reads[-1])
	}
	if get(0); reads[0] != 2 {
		t.Errorf("what was asked for long ago was read %d times", reads[0])
	}
}
