package search

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"cairn/internal/event"
	"cairn/internal/moment"
	"cairn/search/analysis"
	"cairn/search/query"
)

// An oracle finds notes the slow way: it keeps every term of every note and
// looks at all of them for every question. What it shares with the Index is
// how a note becomes terms and how a match is weighed, not how matches are
// found.
type oracle struct {
	notes map[string]oracleNote // by key
}

type oracleNote struct {
	space string
	id    event.ID
	doc   Doc
	terms map[string]level // without the level
	text  []byte
}

func newOracle() *oracle { return &oracle{notes: map[string]oracleNote{}} }

func (o *oracle) apply(b Batch) {
	for _, id := range b.Delete {
		delete(o.notes, noteKey(b.Space, id))
	}
	for _, d := range b.Put {
		o.notes[noteKey(b.Space, d.ID)] = newOracleNote(b.Space, d)
	}
}

func (o *oracle) drop(space string) {
	for k, n := range o.notes {
		if n.space == space {
			delete(o.notes, k)
		}
	}
}

func newOracleNote(space string, d Doc) oracleNote {
	n := oracleNote{space: space, id: d.ID, doc: d, terms: map[string]level{}}
	for _, f := range newDocumentMaker().document(space, &d).fields {
		switch f.name {
		case wordField:
			for _, t := range f.terms {
				last := len(t) - 1
				n.terms[string(t[:last])] = termLevel([]byte(t))
			}
		case textField:
			n.text = f.value
		}
	}
	return n
}

// An oracleSource says how well a note holds something; false for not at all.
type oracleSource struct {
	holds  func(oracleNote) (level, bool)
	weight uint32
}

type oracleWord struct {
	text    string
	texts   []string
	parts   [][]string // names of sources
	weights []uint32
	whole   []string
	kin     []string
	solid   bool
	name    bool
	open    bool
}

// A reckoning is one question put to the oracle.
type reckoning struct {
	parsed  query.Query
	notes   []oracleNote
	live    uint64
	sources map[string]*oracleSource
	typing  bool
	asks    bool
}

func (o *oracle) ask(q Query) []Hit {
	r := reckoning{sources: map[string]*oracleSource{}, typing: q.Prefix, live: uint64(len(o.notes))}
	for _, n := range o.notes {
		r.notes = append(r.notes, n)
	}
	parsed := query.Parse(q.Text)
	r.parsed = parsed
	if parsed.IsEmpty() {
		return r.list(q)
	}
	if len(parsed.Either) == 1 && len(parsed.Either[0].Must) == 0 && len(parsed.Either[0].Not) == 0 {
		r.asks = parsed.Either[0].Asks
		if hits := r.plain(q, r.finished(parsed.Either[0].Want)); len(hits) > 0 {
			return hits
		}
		r.sources = map[string]*oracleSource{}
		return r.plain(q, parsed.Either[0].Want)
	}
	hits := r.hits(q, r.either(parsed, true))
	if loose, _, ok := parsed.Loose(); ok && len(hits) == 0 {
		r.sources = map[string]*oracleSource{}
		r.asks = parsed.Either[0].Asks
		return r.plain(q, loose.Either[0].Want)
	}
	return hits
}

// finished are the words of a plain question, of which common ones stand for
// nothing that begins with them.
func (r *reckoning) finished(want []query.Word) []query.Word {
	want = slices.Clone(want)
	for i, w := range want {
		if len(w.Parts) == 1 && w.Field == query.Anywhere && !r.typing {
			found := r.count(holdsTerm(termKey(stemTerm, analysis.Stem(w.Parts[0]))))
			want[i].Open = w.Open && (found < 100 || 100*found < r.live)
		}
	}
	return want
}

// list is what a query of filters alone finds.
func (r *reckoning) list(q Query) []Hit {
	if !r.parsed.Lists() {
		return nil
	}
	var list []oracleHit
	for _, n := range r.notes {
		if r.admits(q, n) {
			list = append(list, oracleHit{note: n})
		}
	}
	slices.SortFunc(list, compareHits)
	return oracleHits(q, list)
}

func (r *reckoning) count(holds func(oracleNote) (level, bool)) (n uint64) {
	for _, note := range r.notes {
		if _, ok := holds(note); ok {
			n++
		}
	}
	return n
}

// source registers how something is held and returns in how many notes.
func (r *reckoning) source(name string, scored, partial bool, holds func(oracleNote) (level, bool)) uint64 {
	found := r.count(holds)
	s := r.sources[name]
	if s == nil {
		s = &oracleSource{holds: holds}
		r.sources[name] = s
	}
	if scored && found > 0 {
		w := weightOf(found, r.live)
		if partial {
			w = half(w)
		}
		s.weight = max(s.weight, w)
	}
	return found
}

func holdsTerm(key string) func(oracleNote) (level, bool) {
	return func(n oracleNote) (level, bool) {
		l, ok := n.terms[key]
		return l, ok
	}
}

// holdsBest is the best level of all terms that pick accepts.
func holdsBest(pick func(key string) bool) func(oracleNote) (level, bool) {
	return func(n oracleNote) (best level, ok bool) {
		for k, l := range n.terms {
			if pick(k) && (!ok || l > best) {
				best, ok = l, true
			}
		}
		return best, ok
	}
}

func (r *reckoning) stem(text string, scored bool) (string, uint64) {
	k := termKey(stemTerm, analysis.Stem(text))
	return k, r.source(k, scored, false, holdsTerm(k))
}

// exact decides among notes that hold some form of a word.
func (r *reckoning) exact(text string, stems uint64, scored bool) {
	k := termKey(exactTerm, text)
	if found := r.source(k, false, false, holdsTerm(k)); scored && found > 0 {
		r.sources[k].weight = max(weightOf(stems, r.live)/fineness, 1)
	}
}

func (r *reckoning) prefix(text string, scored, partial bool) (string, uint64) {
	holds := holdsBest(func(k string) bool {
		return strings.HasPrefix(k, "w"+text) || strings.HasPrefix(k, "x"+text)
	})
	switch n := len([]rune(text)); {
	case n == 1:
		holds = holdsBest(func(k string) bool { return k == termKey(stemTerm, text) || strings.HasPrefix(k, "p"+text) })
	case n <= maxEdge && !isJoined(text):
		holds = holdsTerm(termKey(edgeTerm, text))
	}
	name := prefixName(stemTerm, text)
	return name, r.source(name, scored, partial, holds)
}

func (r *reckoning) similar(text string, scored bool) (string, uint64) {
	name := similarName(text)
	like := func(first string) func(oracleNote) (level, bool) {
		return holdsBest(func(k string) bool {
			form := strings.TrimSuffix(k[1:], termSep)
			return (k[0] == stemTerm || k[0] == exactTerm) && strings.HasPrefix(form, first) && oneSlip(text, form)
		})
	}
	letters := []rune(text)
	holds := like(string(letters[:1]))
	if r.count(holds) == 0 && len(letters) >= minFirstSlip {
		holds = like("")
	}
	for n := len(letters) - 1; len(letters) >= 8 && n >= max(6, len(letters)-3) && r.count(holds) == 0; n-- {
		start := string(letters[:n])
		holds = holdsBest(func(k string) bool { return strings.HasPrefix(k, "w"+start) || strings.HasPrefix(k, "x"+start) })
	}
	return name, r.source(name, scored, true, holds)
}

// oneSlip says that b comes from a by at most one insertion, deletion,
// replacement or transposition.
func oneSlip(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	switch {
	case len(y)-len(x) > 1:
		return false
	case len(y) > len(x):
		return slices.Equal(x[i:], y[i+1:])
	case i == len(x):
		return true
	case slices.Equal(x[i+1:], y[i+1:]):
		return true
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}

func (r *reckoning) word(w query.Word, scored bool) oracleWord {
	if w.Field == query.Title {
		return r.titleWord(w, scored)
	}
	out := oracleWord{text: w.Text, name: w.Name, open: w.Open}
	unheard := 0
	for i, text := range w.Parts {
		last := i == len(w.Parts)-1
		names, weight := r.part(text, last && w.Open, last && w.Star, scored)
		if weight == 0 {
			unheard++
		}
		out.parts = append(out.parts, names)
		out.texts = append(out.texts, text)
		out.weights = append(out.weights, weight)
		out.solid = analysis.IsSolid(text)
	}
	for i, text := range w.Parts {
		if out.weights[i] > 0 {
			continue
		}
		out.weights[i] = weightOf(0, r.live)
		if starred := w.Star && i == len(w.Parts)-1; unheard == 1 && !starred && canMisspell(text) {
			name, n := r.similar(text, scored)
			out.parts[i] = append(out.parts[i], name)
			out.weights[i] = weightOf(n, r.live)
		}
	}
	for _, text := range w.Whole {
		if name, n := r.stem(text, scored); n > 0 {
			out.whole = append(out.whole, name)
		}
	}
	if (w.Open || w.Star) && len(w.Whole) > 0 {
		if name, n := r.prefix(w.Whole[0], false, true); n > 0 {
			out.whole = append(out.whole, name)
		}
	}
	if w.Base != "" {
		k := termKey(stemTerm, analysis.Stem(w.Base))
		r.source(k, scored, true, holdsTerm(k))
		out.whole = append(out.whole, k)
	}
	return out
}

// part has no weight if no note holds the part.
func (r *reckoning) part(text string, open, star, scored bool) (names []string, weight uint32) {
	add := func(name string, n uint64) bool {
		names = append(names, name)
		if weight == 0 && n > 0 {
			weight = weightOf(n, r.live)
		}
		return n > 0
	}
	prefixable := len([]rune(text)) >= minEdge
	switch {
	case star && !analysis.IsSolid(text):
		add(r.prefix(text, scored, false))
	default:
		name, n := r.stem(text, scored)
		found := add(name, n)
		if found && analysis.Stem(text) != text {
			r.exact(text, n, scored)
		}
		if prefixable && (open || !found) {
			partial := !r.typing || !open
			begins, begun := r.prefix(text, false, partial)
			if scored && (analysis.Stem(text) != text || r.anyHoldsOnly(r.sources[begins].holds, r.sources[name].holds)) {
				r.prefix(text, true, partial)
			}
			add(begins, begun)
		}
	}
	return names, weight
}

// anyHoldsOnly says that a note holds one thing and not another.
func (r *reckoning) anyHoldsOnly(one, other func(oracleNote) (level, bool)) bool {
	return r.count(func(n oracleNote) (level, bool) {
		l, ok := one(n)
		_, both := other(n)
		return l, ok && !both
	}) > 0
}

func (r *reckoning) titleWord(w query.Word, scored bool) oracleWord {
	const kind = titleTerm
	term := func(text string, open bool) []string {
		k := termKey(kind, analysis.Stem(text))
		r.source(k, false, false, holdsTerm(k))
		names := []string{k}
		if open {
			start := string(rune(kind)) + text
			r.source(prefixName(kind, text), false, false, holdsBest(func(k string) bool { return strings.HasPrefix(k, start) }))
			names = append(names, prefixName(kind, text))
		}
		return names
	}
	out := oracleWord{text: w.Text}
	for i, text := range w.Parts {
		out.parts = append(out.parts, term(text, i == len(w.Parts)-1 && (w.Open || w.Star)))
		r.stem(text, scored)
	}
	for _, text := range w.Whole {
		out.whole = append(out.whole, term(text, false)...)
	}
	return out
}

func (r *reckoning) anyHolds(n oracleNote, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := r.sources[name].holds(n)
		return ok
	})
}

func (r *reckoning) holdsWord(n oracleNote, w oracleWord) bool {
	if r.anyHolds(n, w.whole) {
		return true
	}
	for _, names := range w.parts {
		if !r.anyHolds(n, names) {
			return false
		}
	}
	return true
}

// either returns what tells whether a note matches.
func (r *reckoning) either(q query.Query, scored bool) func(oracleNote) bool {
	var exprs []func(oracleNote) bool
	for _, e := range q.Either {
		exprs = append(exprs, r.expr(e, scored))
	}
	return func(n oracleNote) bool {
		return slices.ContainsFunc(exprs, func(matches func(oracleNote) bool) bool { return matches(n) })
	}
}

func (r *reckoning) expr(e query.Expr, scored bool) func(oracleNote) bool {
	var want []oracleWord
	for _, w := range e.Want {
		want = append(want, r.word(w, true))
	}
	var must, not []func(oracleNote) bool
	for _, t := range e.Must {
		must = append(must, r.term(t, scored))
	}
	for _, t := range e.Not {
		not = append(not, r.term(t, false))
	}
	return func(n oracleNote) bool {
		for _, m := range must {
			if !m(n) {
				return false
			}
		}
		for _, m := range not {
			if m(n) {
				return false
			}
		}
		return len(want) == 0 || slices.ContainsFunc(want, func(w oracleWord) bool { return r.holdsWord(n, w) })
	}
}

func (r *reckoning) term(t query.Term, scored bool) func(oracleNote) bool {
	switch {
	case t.Word != nil:
		w := r.word(*t.Word, scored)
		return func(n oracleNote) bool { return r.holdsWord(n, w) }
	case t.Phrase != nil:
		return r.phrase(*t.Phrase, scored)
	case t.Filter != nil:
		return func(n oracleNote) bool { return passes(n, *t.Filter) }
	}
	return r.either(*t.Group, scored)
}

func (r *reckoning) phrase(p query.Phrase, scored bool) func(oracleNote) bool {
	for i, text := range p.Words {
		r.stem(text, scored)
		if i > 0 && analysis.IsSolid(p.Words[i-1]) && analysis.IsSolid(text) {
			r.stem(p.Words[i-1]+text, scored)
		}
	}
	words := []byte(" " + strings.Join(p.Words, " ") + " ")
	return func(n oracleNote) bool { return bytes.Contains(region(n.text, p.Field), words) }
}

func (r *reckoning) score(n oracleNote) (sum uint32) {
	for _, s := range r.sources {
		if s.weight == 0 {
			continue
		}
		if l, ok := s.holds(n); ok {
			sum += s.weight * l.gain()
		}
	}
	return sum
}

type oracleHit struct {
	note  oracleNote
	score uint32
}

func compareHits(a, b oracleHit) int {
	switch {
	case a.score != b.score && a.score > b.score:
		return -1
	case a.score != b.score:
		return 1
	case a.note.id != b.note.id:
		return strings.Compare(string(b.note.id), string(a.note.id))
	}
	return strings.Compare(a.note.space, b.note.space)
}

func (r *reckoning) plain(q Query, want []query.Word) []Hit {
	var words []oracleWord
	for _, w := range want {
		words = append(words, r.word(w, true))
	}
	r.addKin(words, want)
	sole := len(words) == 1 && len(words[0].parts) == 1
	related := func(n oracleNote) bool { return r.related(words, n) }
	if r.doubtful(words) && slices.ContainsFunc(r.notes, func(n oracleNote) bool { return r.admits(q, n) && related(n) }) {
		related = func(oracleNote) bool { return true }
	}
	var list []oracleHit
	for _, n := range r.notes {
		h := oracleHit{n, r.score(n)}
		if h.score == 0 || !r.admits(q, n) || !related(n) {
			continue
		}
		if !sole && !slices.ContainsFunc(words, func(w oracleWord) bool { return !r.holdsWord(n, w) }) {
			h.score += allWords
		}
		list = append(list, h)
	}
	slices.SortFunc(list, compareHits)
	r.lookCloser(words, list[:min(len(list), closerLook)])
	list = slices.DeleteFunc(list, func(h oracleHit) bool { return !r.fits(words, h.note) })
	return oracleHits(q, list)
}

// addKin has notes count for words of which they hold what people use for them.
func (r *reckoning) addKin(words []oracleWord, asked []query.Word) {
	add := func(name string, stems []string, words ...*oracleWord) {
		holds := holdsBest(func(k string) bool { return k[0] == stemTerm && slices.Contains(stems, k[1:len(k)-1]) })
		if n := r.source(name, false, false, holds); n > 0 {
			r.sources[name].weight = max(uint32(kinShare*float64(weightOf(n, r.live))), 1)
			for _, w := range words {
				w.kin = append(w.kin, name)
			}
		}
	}
	for i := range words {
		if !hasKin(asked[i]) {
			continue
		}
		stem := analysis.Stem(asked[i].Parts[0])
		add(kinName(stem), analysis.Kin(stem), &words[i])
		if i > 0 && hasKin(asked[i-1]) {
			name, stems := joinedKin(asked[i-1].Parts[0], asked[i].Parts[0])
			add(name, stems, &words[i-1], &words[i])
		}
	}
}

func (r *reckoning) lookCloser(words []oracleWord, list []oracleHit) {
	var looked []lookWord
	for _, w := range words {
		for i, text := range w.texts {
			if !w.solid {
				looked = append(looked, lookWord{stem: analysis.Stem(text), exact: text, weight: w.weights[i]})
			}
		}
	}
	l := newLook(looked)
	if len(l.words) == 0 {
		return
	}
	for i := range list {
		list[i].score += textBonus(l, list[i].note.text)
	}
	slices.SortFunc(list, compareHits)
}

// textBonus reads a whole text, where the index knows words by their numbers.
func textBonus(l *look, text []byte) uint32 {
	s := newSight(l)
	words := bytes.SplitAfter(text, []byte(" "))
	for _, word := range words[:min(len(words), maxLook)] {
		s.see(l.formOf(word))
	}
	return s.bonus()
}

func (r *reckoning) fits(all []oracleWord, n oracleNote) bool {
	var words []oracleWord
	for _, w := range all {
		if !w.solid || len(w.texts) > 1 || len([]rune(w.texts[0])) > 1 {
			words = append(words, w)
		}
	}
	if words == nil {
		words = all
	}
	for _, w := range words {
		outright := r.anyHolds(n, w.whole) || !slices.ContainsFunc(w.parts, func(names []string) bool { return !r.anyHolds(n, names[:1]) })
		if len(all) > 1 && outright {
			return true
		}
	}
	var held, whole float64
	for _, w := range words {
		var part, sum float64
		for i, names := range w.parts {
			sum += float64(w.weights[i])
			if r.anyHolds(n, names) {
				part += float64(w.weights[i])
			}
		}
		f := part / sum
		if w.isPaired() {
			f = r.pairedShare(w, n)
		}
		switch {
		case r.anyHolds(n, w.whole):
			f = 1
		case f == 0 && r.anyHolds(n, w.kin):
			f = kinShare
		case !w.solid && (len(w.parts) == 2 || isNumber(w.texts)):
			f *= f
		}
		held += f * sum
		whole += sum
	}
	switch {
	case words[0].isPaired():
		return held/whole >= minPairedCoverage
	case words[0].solid:
		return held/whole >= minSolidCoverage
	}
	return held/whole >= minCoverage
}

var paired = regexp.MustCompile(`^[\p{Han}\p{Hangul}]+$`)

func (w oracleWord) isPaired() bool { return w.solid && paired.MatchString(w.text) }

// pairedShare marks the characters that a note holds, and adds up the others.
func (r *reckoning) pairedShare(w oracleWord, n oracleNote) float64 {
	marked := make([]bool, len(w.parts)+1)
	lightest := make([]float64, len(w.parts)+1)
	for i := range lightest {
		lightest[i] = math.Inf(1)
	}
	var held, missed float64
	for i, names := range w.parts {
		weight := float64(w.weights[i])
		for _, at := range []int{i, i + 1} {
			lightest[at] = min(lightest[at], weight)
			marked[at] = marked[at] || r.anyHolds(n, names)
		}
		if r.anyHolds(n, names) {
			held += weight
		}
	}
	for i, weight := range lightest {
		if !marked[i] {
			missed += weight / 2
		}
	}
	return held / (held + missed)
}

// related looks at each note for itself: what of a question it holds, and what
// of it no note holds.
func (r *reckoning) related(words []oracleWord, n oracleNote) bool {
	heard, unknown := r.unknown(words)
	if unknown == 0 || 2*unknown < heard && !r.doubtful(words) || r.asks && 2*unknown == heard {
		return true
	}
	pieces, all, best, named := 0, uint32(0), uint32(0), false
	for _, w := range words {
		pieces += r.pieces(w, n)
		if r.slight(w) {
			continue
		}
		says, known := r.evidence(w)
		all += says
		if !known {
			says = half(says)
		}
		if r.holdsWord(n, w) {
			best = max(best, says)
			named = named || known && w.name
		}
	}
	return pieces >= 2 || named || best > 0 && tellsMost(best, all, weightOf(0, max(r.live, fewNotes)), r.asks, heard)
}

// doubtful is a question of two to four keywords, fewer than half of which are
// in no note, but not none.
func (r *reckoning) doubtful(words []oracleWord) bool {
	heard, unknown := r.unknown(words)
	return !r.asks && heard <= 4 && unknown > 0 && 2*unknown < heard
}

// unknown is how many of the words that have a say are in no note.
func (r *reckoning) unknown(words []oracleWord) (heard, unknown int) {
	for _, w := range words {
		if w.solid {
			return 0, 0
		}
		if r.slight(w) {
			continue
		}
		heard++
		if _, known := r.evidence(w); !known {
			unknown++
		}
	}
	if heard < 2 {
		return 0, 0
	}
	return heard, unknown
}

// slight is a word of one character that no note holds, or a name of which
// only a last part of one character, still being typed, is missing.
func (r *reckoning) slight(w oracleWord) bool {
	last := len(w.texts) - 1
	if _, known := r.evidence(w); known || len([]rune(w.texts[last])) >= minEdge {
		return false
	}
	begun := w
	begun.texts, begun.parts, begun.whole = w.texts[:last], w.parts[:last], nil
	_, known := r.evidence(begun)
	return last == 0 || r.typing && w.open && known
}

func (r *reckoning) pieces(w oracleWord, n oracleNote) (held int) {
	switch {
	case len(w.parts) == 1 && (r.holdsWord(n, w) || r.asks && r.anyHolds(n, w.kin)):
		return 1
	case len(w.parts) > 1 && r.anyHolds(n, w.whole):
		return 2
	case len(w.parts) == 1:
		return 0
	}
	for _, names := range w.parts {
		if r.anyHolds(n, names) {
			held++
		}
	}
	return held
}

// evidence is what a word says among many notes, and whether any holds it.
func (r *reckoning) evidence(w oracleWord) (says uint32, known bool) {
	known = true
	most := uint32(math.MaxUint32) // what a word says that is in no note, if a part is in none
	for i, names := range w.parts {
		var found uint64
		for _, name := range names {
			if found == 0 {
				found = r.count(r.sources[name].holds)
			}
			if found > 0 && name == similarName(w.texts[i]) && len(names) > 1 {
				known = false
			}
		}
		if found == 0 {
			known, most = false, weightOf(0, max(r.live, fewNotes))
		}
		says += weightOf(found, max(r.live, fewNotes))
	}
	known = known || r.asks && len(w.kin) > 0
	for _, name := range w.whole {
		known = known || r.count(r.sources[name].holds) > 0
	}
	return min(says, most), known
}

func (r *reckoning) hits(q Query, matches func(oracleNote) bool) []Hit {
	var list []oracleHit
	for _, n := range r.notes {
		if matches(n) && r.admits(q, n) {
			list = append(list, oracleHit{n, r.score(n)})
		}
	}
	slices.SortFunc(list, compareHits)
	return oracleHits(q, list)
}

func oracleHits(q Query, list []oracleHit) []Hit {
	var out []Hit
	var rest float64 // the best score of a hit without some of the words
	for _, h := range list {
		if q.Keep != nil && !q.Keep(h.note.id) || len(out) >= limitOf(q) {
			continue
		}
		score := scoreOf(h.score &^ allWords)
		if h.score < allWords && rest == 0 {
			rest = score
			for i := range out {
				out[i].Score += rest
			}
		}
		out = append(out, Hit{ID: h.note.id, Space: h.note.space, Score: score})
	}
	return out
}

func (r *reckoning) admits(q Query, n oracleNote) bool {
	f := q.Filter
	ok := func(want, have string) bool { return want == "" || strings.EqualFold(want, have) }
	return (len(q.Spaces) == 0 || slices.Contains(q.Spaces, n.space)) &&
		ok(f.Kind, n.doc.Kind) && ok(f.Harness, n.doc.Harness) && (f.Device == "" || onDevice(n, f.Device)) &&
		ok(f.Actor, n.doc.Actor) && ok(f.Project, n.doc.Project) &&
		!slices.ContainsFunc(f.Tags, func(tag string) bool { return !tagged(n, tag) }) &&
		(f.Since.IsZero() || !n.doc.Recorded.Before(f.Since)) &&
		(f.Until.IsZero() || n.doc.Recorded.Before(f.Until)) &&
		passesExpr(n, query.Expr{Must: r.parsed.Only, Not: r.parsed.Never})
}

func onDevice(n oracleNote, device string) bool {
	start := len(device) >= event.MinDeviceStart && strings.HasPrefix(strings.ToLower(n.doc.Device), strings.ToLower(device))
	return start || strings.EqualFold(n.doc.Device, device)
}

func tagged(n oracleNote, tag string) bool {
	return slices.ContainsFunc(n.doc.Tags, func(have string) bool { return strings.EqualFold(tag, have) })
}

// passesExpr judges an expression of filters alone.
func passesExpr(n oracleNote, e query.Expr) bool {
	passesTerm := func(t query.Term) bool {
		if t.Filter != nil {
			return passes(n, *t.Filter)
		}
		return slices.ContainsFunc(t.Group.Either, func(e query.Expr) bool { return passesExpr(n, e) })
	}
	return !slices.ContainsFunc(e.Must, func(t query.Term) bool { return !passesTerm(t) }) && !slices.ContainsFunc(e.Not, passesTerm)
}

func passes(n oracleNote, f query.Filter) bool {
	at, _ := moment.Parse(f.Value, time.Now())
	switch f.Field {
	case query.Tag:
		return tagged(n, f.Value)
	case query.Kind:
		return strings.EqualFold(n.doc.Kind, f.Value) || n.doc.Kind == "observe" && strings.EqualFold("note", f.Value)
	case query.Harness:
		return strings.EqualFold(n.doc.Harness, f.Value)
	case query.Device:
		return onDevice(n, f.Value)
	case query.Project:
		return strings.EqualFold(n.doc.Project, f.Value)
	case query.Since:
		return !n.doc.Recorded.Before(at)
	case query.Until:
		return n.doc.Recorded.Before(at)
	}
	panic("no filter: " + f.Field.String())
}
