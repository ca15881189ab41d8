package segfile

// An Automaton accepts some terms. Of those that begin with what leads to a state
// from which CanMatch is false it accepts none.
type Automaton interface {
	Start() int
	Accept(state int, b byte) int
	IsMatch(state int) bool
	CanMatch(state int) bool
}

// A picker asks an Automaton about one term after the other. It remembers what
// each byte of the last one led to.
type picker struct {
	Automaton
	states []int // after so many bytes
}

// look says whether the term at which a cursor stands is accepted, and, if none is
// that begins with some bytes of it, how many those are.
func (p *picker) look(c *cursor) (taken bool, refused int) {
	if p.states == nil {
		p.states = append(p.states, p.Start())
	}
	p.states = p.states[:min(c.same+1, len(p.states))]
	c.same = len(c.term)
	for {
		read := len(p.states) - 1
		switch {
		case !p.CanMatch(p.states[read]):
			return false, read
		case read == len(c.term):
			return p.IsMatch(p.states[read]), 0
		}
		p.states = append(p.states, p.Accept(p.states[read], c.term[read]))
	}
}

// after is the least term above all that begin with start, or nil if there is
// none.
func after(start []byte) []byte {
	for i := len(start) - 1; i >= 0; i-- {
		if start[i] < 0xff {
			end := append([]byte(nil), start[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
