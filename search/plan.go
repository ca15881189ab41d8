package search

import (
	"slices"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring"

	"cairn/search/analysis"
	"cairn/search/embed"
	"cairn/search/query"
)

// A plan is a query bound to a view: its words have become lists.
type plan struct {
	view    *view
	narrow  narrower
	typing  bool // the last word is not finished
	asks    bool // the query is put as a sentence
	meaning embed.Vector
	sources []*source
	index   map[string]int // of sources, by what they are
	words   []*word
	either  []expr
	matched []*roaring.Bitmap // see matching; nil until then

	misspelled  []string // words that no note holds, of which some hold one like it
	respellings int      // that were looked for
}

// An expr is a query.Expr bound to a view.
type expr struct {
	want []*word
	must []term
	not  []term
}

// A term is a query.Term bound to a view; one member is set.
type term struct {
	word   *word
	phrase *phrase
	group  []expr
	filter *query.Filter
}

// A word is a query.Word bound to a view. A note holds it if, for each part,
// one of the part's sources has the note, or one of whole has it.
type word struct {
	text    string
	texts   []string // of the parts
	parts   [][]int
	weights []uint32 // what each part says, found or not
	whole   []int
	kin     []int  // of notes that do not hold it, but mean it, see addKin
	weight  uint32 // the sum of weights
	solid   bool   // of a script without spaces
	paired  bool   // of one, most of whose words are of two characters
	name    bool   // in a sentence
	open    bool   // it may be unfinished
}

func newPlan(n narrower, q query.Query, typing bool) (*plan, error) {
	p := &plan{view: n.view, narrow: n, typing: typing, index: map[string]int{}}
	p.asks = len(q.Either) == 1 && q.Either[0].Asks
	var err error
	p.either, err = p.exprs(q.Either)
	if words := p.plainWords(); err == nil && words != nil {
		err = p.addKin(words, q.Either[0].Want)
	}
	return p, err
}

func (p *plan) exprs(in []query.Expr) ([]expr, error) {
	var out []expr
	for _, e := range in {
		bound, err := p.expr(e)
		if err != nil {
			return nil, err
		}
		out = append(out, bound)
	}
	return out, nil
}

func (p *plan) expr(e query.Expr) (out expr, err error) {
	for _, w := range e.Want {
		bound, err := p.word(w, true)
		if err != nil {
			return expr{}, err
		}
		out.want = append(out.want, bound)
	}
	if out.must, err = p.terms(e.Must, true); err != nil {
		return expr{}, err
	}
	out.not, err = p.terms(e.Not, false)
	return out, err
}

// terms binds terms; only those that may match add to the score.
func (p *plan) terms(in []query.Term, scored bool) ([]term, error) {
	var out []term
	for _, t := range in {
		bound, err := p.term(t, scored)
		if err != nil {
			return nil, err
		}
		out = append(out, bound)
	}
	return out, nil
}

func (p *plan) term(t query.Term, scored bool) (out term, err error) {
	switch {
	case t.Word != nil:
		out.word, err = p.word(*t.Word, scored)
	case t.Phrase != nil:
		out.phrase, err = p.phrase(*t.Phrase, scored)
	case t.Filter != nil:
		out.filter = t.Filter
	default:
		out.group, err = p.exprs(t.Group.Either)
	}
	return out, err
}

// word finds the lists of a word. Words that a match may show are remembered
// in plan.words.
func (p *plan) word(w query.Word, scored bool) (*word, error) {
	if w.Field == query.Title {
		return p.titleWord(w, scored)
	}
	out := &word{text: w.Text, texts: w.Parts, name: w.Name, open: w.Open}
	var unknown []int
	for i, text := range w.Parts {
		last := i == len(w.Parts)-1
		sources, err := p.part(text, last && w.Open, last && w.Star, scored)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(sources, p.finds) {
			unknown = append(unknown, i)
		}
		out.parts = append(out.parts, sources)
		out.solid = analysis.IsSolid(text)
	}
	out.paired = out.solid && isPaired(w.Text)
	if len(unknown) == 1 { // of a name with more of them little would be left as it was typed
		i := unknown[0]
		starred := w.Star && i == len(w.Parts)-1
		near, err := p.respelled(w.Parts[i], starred, scored)
		if err != nil {
			return nil, err
		}
		out.parts[i] = append(out.parts[i], near...)
	}
	for _, sources := range out.parts {
		weight := p.weigh(sources)
		out.weights = append(out.weights, weight)
		out.weight += weight
	}
	err := p.wholes(out, w, scored)
	if scored {
		p.words = append(p.words, out)
	}
	return out, err
}

// wholes adds what is the word without its parts.
func (p *plan) wholes(out *word, w query.Word, scored bool) error {
	for _, text := range w.Whole {
		i, err := p.add(p.stemSource(text, scored))
		if err != nil {
			return err
		}
		if p.sources[i].found > 0 {
			out.whole = append(out.whole, i)
		}
	}
	if (w.Open || w.Star) && len(w.Whole) > 0 {
		// 1.26 of v1.26.8: the parts give the score, but would not tell.
		begun, err := p.add(p.prefixSource(w.Whole[0], false, true))
		if err != nil {
			return err
		}
		if p.sources[begun].found > 0 {
			out.whole = append(out.whole, begun)
		}
	}
	if w.Base == "" {
		return nil
	}
	base := p.stemSource(w.Base, scored)
	base.half = true
	i, err := p.add(base)
	out.whole = append(out.whole, i)
	return err
}

// half is what a match in part counts beside a match of the whole word.
func half(w uint32) uint32 { return max(w/2, 1) }

// part finds the lists of one part of a word: the word itself, and what begins
// with it if it may be unfinished or there is no such word.
func (p *plan) part(text string, open, star, scored bool) ([]int, error) {
	if star && !analysis.IsSolid(text) {
		i, err := p.add(p.prefixSource(text, scored, false))
		return []int{i}, err
	}
	exact, err := p.add(p.stemSource(text, scored))
	if err != nil {
		return nil, err
	}
	if stem := p.sources[exact]; scored && stem.found > 0 && analysis.Stem(text) != text {
		if _, err := p.add(p.exactSource(text, stem)); err != nil {
			return nil, err
		}
	}
	if !open && p.finds(exact) || !canPrefix(text) {
		return []int{exact}, nil
	}
	partial := !p.typing || !open
	begun, err := p.add(p.prefixSource(text, false, partial))
	if err == nil && scored && p.beginsOthers(text, exact, begun) {
		_, err = p.add(p.prefixSource(text, true, partial))
	}
	return []int{exact, begun}, err
}

// beginsOthers says that notes which hold words that begin with a text are not
// just those that hold it: such would have the same twice in their scores.
func (p *plan) beginsOthers(text string, exact, begun int) bool {
	whole, start := p.sources[exact], p.sources[begun]
	return start.found > whole.found || analysis.Stem(text) != text || isEdge(text) && !p.view.isWithin(start, whole)
}

// maxRespelled is how many words that no note holds are looked for as others.
// Where there are more, such as in a pasted log, few are slips, and to look for
// one takes longer than to answer a question.
const maxRespelled = 8

// respelled finds the lists of what is spelled nearly as a part that is in no
// note.
func (p *plan) respelled(text string, star, scored bool) ([]int, error) {
	if star || !canMisspell(text) || p.respellings == maxRespelled {
		return nil, nil
	}
	p.respellings++
	near, err := p.add(p.similarSource(text, scored))
	if err != nil {
		return nil, err
	}
	if scored && p.finds(near) && !slices.Contains(p.misspelled, text) {
		p.misspelled = append(p.misspelled, text)
	}
	return []int{near}, nil
}

// weigh weighs a part by the first of its sources that finds anything.
func (p *plan) weigh(sources []int) uint32 {
	for _, i := range sources {
		if n := p.sources[i].found; n > 0 {
			return weightOf(n, p.view.live)
		}
	}
	return weightOf(0, p.view.live)
}

func canPrefix(text string) bool { return utf8.RuneCountInString(text) >= minEdge }

// minSlip is the length of a word that may be misspelled.
const minSlip = 5

// canMisspell says that a word is long enough for a slip to be told from
// another word, and is one at all.
func canMisspell(text string) bool {
	return utf8.RuneCountInString(text) >= minSlip && !analysis.IsSolid(text) && !hasDigit(text)
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
	}
	return false
}
