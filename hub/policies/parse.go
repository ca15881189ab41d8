package policies

import (
	"slices"
	"sync"

	"cairn/policy/rules"
	"cairn/policy/versions"
)

// remembered is how many files are kept as they were read: the one in force,
// the one that waits, and one to spare.
const remembered = 3

// A parser remembers the files that it read last. To prove a file's patterns
// takes longer than all else that is done with it.
type parser struct {
	mu    sync.Mutex
	known []parsed // the one used last stands last
}

type parsed struct {
	hash versions.Hash
	file *rules.File
}

// Parse is rules.Parse, which it calls once for all that is done with a file:
// to check it, to propose it and to judge by it. Do not change the result.
func (s *Store) Parse(text []byte) (*rules.File, error) {
	hash := versions.HashOf(text)
	if f := s.parser.recall(hash); f != nil {
		return f, nil
	}
	f, err := rules.Parse(text)
	if err == nil {
		s.parser.keep(parsed{hash, f})
	}
	return f, err
}

func (p *parser) recall(hash versions.Hash) *rules.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.known, func(k parsed) bool { return k.hash == hash })
	if at < 0 {
		return nil
	}
	found := p.known[at]
	p.known = append(slices.Delete(p.known, at, at+1), found)
	return found.file
}

func (p *parser) keep(k parsed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = append(p.known, k)
	p.known = slices.Delete(p.known, 0, max(0, len(p.known)-remembered))
}
