package hub

import (
	"errors"
	"testing"
)

// What fails every second is told once, and told again if it fails after it
// went well.
func TestAnOutageIsToldOnceEachTimeItBegins(t *testing.T) {
	t.Parallel()
	full, gone := errors.New("the disk is full"), errors.New("the disk is gone")
	var o outage
	for i, step := range []struct {
		err  error
		told bool
	}{
		{nil, false}, {full, true}, {full, false}, {gone, true}, {full, true},
		{nil, false}, {full, true}, {full, false},
	} {
		if told := o.isNews(step.err); told != step.told {
			t.Errorf("step %d, %v: told %v", i, step.err, told)
		}
	}
}
