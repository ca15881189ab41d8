package search

import (
	"cairn/search/analysis"
	"cairn/search/query"
)

// A named source goes by what it is, so that a plan reads nothing twice.
type named struct {
	name string
	read func() (*source, error)
	half bool // it matches in part
	kin  bool // it matches what is used for the word
	// fine is how many notes hold the word of which it is but a form: it only
	// decides among those that are equal otherwise.
	fine uint64
	mute bool // it does not count for the score
}

func (p *plan) stemSource(text string, scored bool) named {
	k := termKey(stemTerm, analysis.Stem(text))
	return named{name: k, mute: !scored, read: func() (*source, error) { return p.view.term(k) }}
}

// exactSource is a word as it was typed, of which stem has all forms. It only
// scores.
func (p *plan) exactSource(text string, stem *source) named {
	k := termKey(exactTerm, text)
	return named{name: k, fine: stem.found, read: func() (*source, error) { return p.view.term(k) }}
}

func (p *plan) prefixSource(text string, scored, partial bool) named {
	return named{name: prefixName(stemTerm, text), half: partial, mute: !scored, read: func() (*source, error) { return p.view.prefix(text) }}
}

func (p *plan) similarSource(text string, scored bool) named {
	return named{name: similarName(text), half: true, mute: !scored, read: func() (*source, error) { return p.view.similar(text) }}
}

// add returns the place of a source. One that is both scored and not is
// scored.
func (p *plan) add(n named) (int, error) {
	i, ok := p.index[n.name]
	if !ok {
		s, err := n.read()
		if err != nil {
			return 0, err
		}
		i = len(p.sources)
		p.sources = append(p.sources, s)
		p.index[n.name] = i
	}
	if s := p.sources[i]; !n.mute && s.found > 0 {
		s.weight = max(s.weight, n.weigh(s.found, p.view.live))
		s.fine = n.fine > 0
	}
	return i, nil
}

// weigh is what it says of a note to be among found of live ones.
func (n named) weigh(found, live uint64) uint32 {
	switch {
	case n.fine > 0:
		return max(weightOf(n.fine, live)/fineness, 1)
	case n.kin:
		return max(uint32(kinShare*float64(weightOf(found, live))), 1)
	case n.half:
		return half(weightOf(found, live))
	default:
		return weightOf(found, live)
	}
}

// fineness is how many times less the form of a word counts than the word: all
// of its levels together less than one of the word's.
const fineness = 32

// titleWord is a word that has to stand in the title. It is looked for there,
// and scored as if it might stand anywhere.
func (p *plan) titleWord(w query.Word, scored bool) (*word, error) {
	out := &word{text: w.Text}
	for i, text := range w.Parts {
		sources, err := p.titlePart(text, i == len(w.Parts)-1 && (w.Open || w.Star))
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, sources)
		if !scored {
			continue
		}
		if _, err := p.add(p.stemSource(text, true)); err != nil {
			return nil, err
		}
	}
	for _, text := range w.Whole {
		sources, err := p.titlePart(text, false)
		if err != nil {
			return nil, err
		}
		out.whole = append(out.whole, sources...)
	}
	if scored {
		p.words = append(p.words, out)
	}
	return out, nil
}

func (p *plan) titlePart(text string, open bool) ([]int, error) {
	k := termKey(titleTerm, analysis.Stem(text))
	i, err := p.add(named{name: k, mute: true, read: func() (*source, error) { return p.view.term(k) }})
	if err != nil || !open {
		return []int{i}, err
	}
	j, err := p.add(named{name: prefixName(titleTerm, text), mute: true, read: func() (*source, error) { return p.view.titlePrefix(text) }})
	return []int{i, j}, err
}
