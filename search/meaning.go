package search

import "cairn/search/embed"

// widerLook is how many candidates are looked at closely when meaning may bring
// one forward, and meaningShare how much of the best score in words the same
// meaning is worth. More of either finds next to nothing more: the figures are
// in docs/adr/0020-meaning-from-word-vectors.md.
const (
	widerLook    = 50
	meaningShare = 0.4
)

// leans says whether meaning has a say: where there are several words, for only
// then do notes that hold all of them keep apart from the others.
func (p *plan) leans(words []*word) bool {
	return p.meaning.HasPlace() && (len(words) > 1 || len(words[0].parts) > 1)
}

func (p *plan) depth(words []*word) int {
	if p.leans(words) {
		return widerLook
	}
	return closerLook
}

// lean adds to the scores of candidates what their nearness to the question is
// worth: never so much that one without all the words passes one with them.
func (p *plan) lean(list []candidate) error {
	var best [2]uint32
	for _, c := range list {
		best[c.tier()] = max(best[c.tier()], c.score&^allWords)
	}
	var place []byte
	for i, c := range list {
		var err error
		if place, err = p.view.segs[c.part].appendPlace(place[:0], c.doc); err != nil {
			return &DamagedError{Dir: p.view.dir, Err: err}
		}
		near := max(0, embed.Similarity(p.meaning, place))
		list[i].score += uint32(meaningShare * near * float64(best[c.tier()]))
	}
	return nil
}

// tier is 1 for a candidate that holds all the words.
func (c candidate) tier() int {
	if c.score >= allWords {
		return 1
	}
	return 0
}
