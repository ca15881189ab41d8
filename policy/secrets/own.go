package secrets

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// A Pattern is a rule of a team's own: an expression that is tried where one
// of its literals stands. Whoever makes one sees to it that every match holds
// a literal and none is empty.
type Pattern struct {
	ID       string
	Match    *regexp.Regexp
	Literals []string // found in any case of ASCII letters
	// Longest is how many bytes a match can have, 0 if that has no end. Then
	// it is looked for in the kilobyte on both sides of a literal.
	Longest int
	Entropy float64 // bits a byte that a match has at least
	// Steps is the size of the program that the expression becomes; if it is 0
	// it is counted.
	Steps int
}

// reach is how far from a literal a match may extend. An edge of the text
// looks to an expression like the edge of a word, so there is some to spare.
func (p *Pattern) reach() int {
	const open, spare = 1 << 10, 4
	if p.Longest == 0 || p.Longest > open {
		return open + spare
	}
	return p.Longest + spare
}

// overhead is the work of a byte beside the steps of the expression.
const overhead = 16

// steps is what one byte may cost: all steps of the expression's program.
func (p *Pattern) steps() (int64, error) {
	if p.Steps > 0 {
		return int64(p.Steps + overhead), nil
	}
	re, err := syntax.Parse(p.Match.String(), syntax.Perl)
	if err != nil {
		return 0, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, err
	}
	return int64(len(prog.Inst) + overhead), nil
}

// Patterns are a team's own rules, ready to match. They never change, and any
// number of scanners may have the same.
type Patterns struct {
	all    []Pattern
	steps  []int64 // of each
	finder finder
	owners [][]int // of each literal
}

// NewPatterns makes rules ready to match. An error means that they could not be
// put together.
func NewPatterns(all ...Pattern) (*Patterns, error) {
	p := &Patterns{all: all}
	if len(all) == 0 {
		return p, nil
	}
	var literals []string
	known := map[string]int{}
	for i, one := range all {
		steps, err := one.steps()
		if err != nil {
			return nil, fmt.Errorf("the team's pattern %s: %w", one.ID, err)
		}
		p.steps = append(p.steps, steps)
		for _, l := range one.Literals {
			l = string(lowerASCII(nil, []byte(l)))
			n, ok := known[l]
			if !ok {
				n = len(literals)
				known[l] = n
				literals, p.owners = append(literals, l), append(p.owners, nil)
			}
			p.owners[n] = append(p.owners[n], i)
		}
	}
	var err error
	if p.finder, err = newAutomaton(literals, true); err != nil {
		return nil, fmt.Errorf("the team's patterns: %w", err)
	}
	return p, nil
}

// near lists for each pattern the stretches of the text that a match can lie in.
func (p *Patterns) near(text []byte) [][]span {
	found := make([][]span, len(p.all))
	p.finder.each(text, func(literal int, at span) {
		for _, i := range p.owners[literal] {
			reach := p.all[i].reach()
			found[i] = widen(found[i], span{max(0, at.start-reach), min(len(text), at.end+reach)})
		}
	})
	return found
}

// widen adds a stretch to those before it, together with the last one if they
// meet.
func widen(list []span, s span) []span {
	if n := len(list) - 1; n >= 0 && s.start <= list[n].end {
		list[n] = span{min(list[n].start, s.start), max(list[n].end, s.end)}
		return list
	}
	return append(list, s)
}

// matchOwn reports what the team's patterns find in one view. It returns false
// when that takes too much work.
func (r *reading) matchOwn(v view) bool {
	if r.own == nil || len(r.own.all) == 0 || v.kind.turned() {
		return true
	}
	for i, stretches := range r.own.near(v.text) {
		for _, s := range stretches {
			if !r.try(v, i, s) {
				return false
			}
		}
	}
	return true
}

// try looks for one pattern in a stretch. What that may cost is known before:
// each byte all steps once, and behind each match once more as far as a longer
// one could have gone.
func (r *reading) try(v view, pattern int, near span) bool {
	p, steps := &r.own.all[pattern], r.own.steps[pattern]
	size := int64(near.end - near.start)
	again := size
	if p.Longest > 0 {
		again = min(size, int64(p.Longest))
	}
	r.tried += size * steps
	left := maxTried + maxTriedGrowth*int64(len(r.raw)) - r.tried
	if left < 0 {
		return false
	}
	most := int(min(maxFindings, left/(again*steps)+1))
	found := p.Match.FindAllIndex(near.in(v.text), most)
	r.tried += int64(len(found)) * again * steps
	for _, at := range found {
		m := match{span: span{near.start + at[0], near.start + at[1]}}
		value := m.in(v.text)
		if entropy(value) < p.Entropy || isDocumented(value) || v.kind.scrambled() && isPlain(value) {
			continue
		}
		r.note(v, Finding{Rule: p.ID}, m)
	}
	return len(found) < most
}
