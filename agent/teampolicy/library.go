package teampolicy

import (
	"sync"
	"time"

	"cairn/policy/rules"
	"cairn/policy/versions"
)

// A library has the policy files of earlier versions as they were read. To read
// one takes longer than all else that is done with it, and the same ones come
// with every version that follows. It is safe for concurrent use.
type library struct {
	now func() time.Time

	mu    sync.Mutex // guards known
	known map[versions.Hash]func() *rules.Rules
}

func newLibrary(now func() time.Time) *library {
	return &library{now: now, known: map[versions.Hash]func() *rules.Rules{}}
}

// read is what a file says, by its hash. It is read when somebody asks, once, and
// nil if it is not here or this program does not understand it.
func (l *library) read(h versions.Hash, file []byte) func() *rules.Rules {
	if len(file) == 0 { // it may come later
		return func() *rules.Rules { return nil }
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[h] == nil {
		l.known[h] = sync.OnceValue(func() *rules.Rules {
			f, err := rules.Parse(file)
			if err != nil {
				return nil
			}
			return f.Rules(rules.Options{Now: l.now})
		})
	}
	return l.known[h]
}
