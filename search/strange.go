package search

import (
	"slices"

	"github.com/RoaringBitmap/roaring"

	"cairn/search/query"
)

// A question is strange if most of its words stand in no note. A note that then
// shares a single word with it, such as "policy" of "vacation policy", is no
// answer, unless that word says enough. A few keywords are doubtful if one of
// them stands in no note: if each note shares but one word with "jenkins agent
// offline", they are about something else.
const (
	// fewNotes is how many notes it takes to tell by their number how much a
	// word says.
	fewNotes = 256
	// fewWords is how many keywords are few.
	fewWords = 4
	// rareShare is how much a word of a sentence must say beside one that is in
	// no note, for in a sentence many words only help to ask.
	rareShare = 0.8
	// longShare is the same for manyWords words or more: they describe
	// something, such as a command with its error.
	longShare = 0.7
	manyWords = 6
)

// related narrows a strange question to the documents that hold two words of
// it, or two parts of a name, or one that says enough. A doubtful one is let
// alone if there is such a document, and has no answer if there is none.
func (p *plan) related(words []*word, allow []*roaring.Bitmap) []*roaring.Bitmap {
	heard := p.heard(words)
	strange, doubtful := p.judge(heard)
	if !strange && !doubtful {
		return allow
	}
	telling := p.telling(heard)
	out := make([]*roaring.Bitmap, len(allow))
	for i, allowed := range allow {
		out[i] = p.relatedDocs(i, words, telling)
		if allowed != nil {
			out[i].And(allowed)
		}
		if !strange && !p.view.segs[i].withoutDead(out[i]).IsEmpty() {
			return allow
		}
	}
	return out
}

func (p *plan) relatedDocs(part int, words, telling []*word) *roaring.Bitmap {
	once, enough := roaring.New(), roaring.New()
	for _, w := range telling {
		enough.Or(p.wordDocs(part, w))
	}
	for _, w := range words {
		for _, docs := range p.pieces(part, w) {
			enough.Or(roaring.And(once, docs))
			once.Or(docs)
		}
	}
	return enough
}

// pieces are the documents of each part of a word; to hold the whole of a name
// is as good as to hold two.
func (p *plan) pieces(part int, w *word) []*roaring.Bitmap {
	if len(w.parts) == 1 {
		docs := p.wordDocs(part, w)
		if p.meant(w) {
			docs.Or(p.anyOf(part, w.kin))
		}
		return []*roaring.Bitmap{docs}
	}
	whole := p.anyOf(part, w.whole)
	out := []*roaring.Bitmap{whole, whole}
	for _, sources := range w.parts {
		out = append(out, p.anyOf(part, sources))
	}
	return out
}

// heard are the words that have a say in whether a question is strange.
func (p *plan) heard(words []*word) []*word {
	return slices.DeleteFunc(slices.Clone(words), p.slight)
}

// slight says that no note holds a word, and that this says nothing: it is a
// single letter or digit, or a name of which only the beginning of its last
// part is typed, too short to look for.
func (p *plan) slight(w *word) bool {
	last := len(w.texts) - 1
	if p.knows(w) || canPrefix(w.texts[last]) {
		return false
	}
	return last == 0 || p.typing && w.open && p.knowsParts(w, last)
}

// judge says whether a question is strange, and whether it is doubtful: then
// its keywords are few, so that each was chosen, and one of them stands in no
// note. It does not judge scripts without spaces, whose words are guesses.
func (p *plan) judge(words []*word) (strange, doubtful bool) {
	unknown := p.unknown(words)
	if unknown == 0 {
		return false, false
	}
	strange = 2*unknown > len(words) || !p.asks && 2*unknown == len(words)
	return strange, !p.asks && len(words) <= fewWords
}

// unknown is how many words stand in no note; 0 if that says nothing.
func (p *plan) unknown(words []*word) (n int) {
	if len(words) < 2 || slices.ContainsFunc(words, func(w *word) bool { return w.solid }) {
		return 0
	}
	for _, w := range words {
		if !p.knows(w) {
			n++
		}
	}
	return n
}

// knows says that some note holds a word or, in a sentence, its kin.
func (p *plan) knows(w *word) bool { return p.meant(w) || p.stored(w) }

// stored says that some note holds a word, not only one that is similar.
func (p *plan) stored(w *word) bool {
	if slices.ContainsFunc(w.whole, p.finds) {
		return true
	}
	return p.knowsParts(w, len(w.parts))
}

// knowsParts is knows for each of the first n parts of a word.
func (p *plan) knowsParts(w *word, n int) bool {
	for i, sources := range w.parts[:n] {
		if slices.Contains(p.misspelled, w.texts[i]) || !slices.ContainsFunc(sources, p.finds) {
			return false
		}
	}
	return true
}

func (p *plan) finds(source int) bool { return p.sources[source].found > 0 }

// telling are the words of a strange question that are enough to go by: most
// of the question, or rare, or what a sentence calls by name.
func (p *plan) telling(words []*word) (out []*word) {
	var all uint32
	for _, w := range words {
		all += p.evidence(w)
	}
	for _, w := range words {
		says, known := p.evidence(w), p.knows(w)
		if !known {
			says = half(says)
		}
		if known && w.name || tellsMost(says, all, weightOf(0, p.notes()), p.asks, len(words)) {
			out = append(out, w)
		}
	}
	return out
}

// tellsMost weighs what a word says against all that the words say, and against
// what a word says that is in no note.
func tellsMost(says, all, most uint32, asks bool, words int) bool {
	share := float64(says) / float64(most)
	return float64(says) >= minCoverage*float64(all) || asks && share >= rareShare || words >= manyWords && share >= longShare
}

// evidence is the weight of a word among at least fewNotes notes. A name with
// a part that no note holds says no more than another word that is in none.
func (p *plan) evidence(w *word) (sum uint32) {
	missing := false
	for _, sources := range w.parts {
		var found uint64
		if i := slices.IndexFunc(sources, p.finds); i >= 0 {
			found = p.sources[sources[i]].found
		}
		missing = missing || found == 0
		sum += weightOf(found, p.notes())
	}
	if missing {
		return min(sum, weightOf(0, p.notes()))
	}
	return sum
}

func (p *plan) notes() uint64 { return max(p.view.live, fewNotes) }

// known is a strange or doubtful question without the words that no note holds,
// and those words; what is slight stays. It is empty if nothing is left or the
// question is neither.
func (n narrower) known(q Query, parsed query.Query) (known query.Query, unknown []string, err error) {
	p, err := newPlan(n, parsed, q.Prefix)
	if err != nil {
		return query.Query{}, nil, err
	}
	words := p.plainWords()
	if strange, doubtful := p.judge(p.heard(words)); !strange && !doubtful {
		return query.Query{}, nil, nil
	}
	var want []query.Word
	for i, w := range words {
		if p.stored(w) || p.slight(w) {
			want = append(want, parsed.Either[0].Want[i])
		} else {
			unknown = append(unknown, w.text)
		}
	}
	if len(want) > 0 {
		known.Either = []query.Expr{{Want: want}}
	}
	return known, unknown, nil
}
