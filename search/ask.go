package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring"

	"cairn/internal/event"
	"cairn/search/embed"
	"cairn/search/query"
)

// A Query is a question and what narrows it.
type Query struct {
	Text   string   // see package query for what it may hold
	Limit  int      // how many hits at most; 0 is DefaultLimit
	Spaces []string // only these; empty is all
	Filter Filter
	// Keep says whether a note may be a hit, such as one that no other
	// supersedes; nil keeps all. It is asked at most once for a note, best
	// first, and for no more notes than it takes to fill the hits. It must not
	// call the Index.
	Keep func(event.ID) bool
	// Prefix says that the last word is still being typed: notes that hold a
	// word beginning with it then count as much as those that hold the word.
	Prefix bool
	// Meaning has notes that mean what the query does, by their own Meaning,
	// come before others that hold its words as well; nil leaves that out.
	Meaning embed.Vector
}

// The limits of a result.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
)

// A Result is the hits of a query, best first.
type Result struct {
	Hits []Hit
	// Total is how many notes match, whether kept or not. For phrases it may
	// count notes that hold only their words.
	Total int
	// Note says in words what there is to know about the result as a whole.
	Note string
}

// A Hit is a note that was found.
type Hit struct {
	ID    event.ID
	Space string
	// Score compares the hits of one result; it falls from hit to hit, and is 0
	// in a list.
	Score float64
	// Matched are the words and phrases of the query that the note holds.
	Matched []string
}

// noWords is the note of a result that could not find anything.
const noWords = `the query names no words; "log" lists the newest notes`

// Ask finds notes. Every text is a query, and at worst finds nothing. One of
// filters alone lists what they let through, newest first. The error is that of
// ctx, ErrClosed or a *DamagedError.
func (x *Index) Ask(ctx context.Context, q Query) (Result, error) {
	var out Result
	err := x.read(func(v *view) (err error) {
		out, err = v.ask(ctx, q)
		return err
	})
	return out, err
}

func (v *view) ask(ctx context.Context, q Query) (Result, error) {
	parsed := query.Parse(q.Text)
	q.Keep = askedOnce(q.Keep)
	if parsed.IsEmpty() && !parsed.Lists() {
		return Result{Note: noWords}, nil
	}
	n := narrower{view: v, now: time.Now()}
	allow, err := n.allowed(&q, parsed)
	if err != nil {
		return Result{}, err
	}
	out, err := v.find(ctx, q, parsed, n, allow)
	if err != nil {
		return out, err
	}
	notes := parsed.Remarks
	if len(out.Hits) == 0 {
		why, err := n.whyNothing(ctx, q, parsed, allow)
		if err != nil {
			return out, err
		}
		notes = append(notes, why)
	}
	out.Note = join(append([]string{out.Note}, notes...))
	return out, nil
}

// askedOnce is keep with a memory, for one question may be looked up in several
// ways.
func askedOnce(keep func(event.ID) bool) func(event.ID) bool {
	if keep == nil {
		return nil
	}
	known := map[event.ID]bool{}
	return func(id event.ID) bool {
		kept, asked := known[id]
		if !asked {
			kept = keep(id)
			known[id] = kept
		}
		return kept
	}
}

func join(notes []string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

// find looks for notes, and, if there are none, for those that hold what begins
// with a finished word, or the mere words of a phrase.
func (v *view) find(ctx context.Context, q Query, parsed query.Query, n narrower, allow []*roaring.Bitmap) (Result, error) {
	finished, differs, err := v.finished(q, parsed)
	if err != nil {
		return Result{}, err
	}
	out, s, err := v.answer(ctx, q, finished, n, allow)
	if err == nil && differs && len(out.Hits) == 0 {
		out, s, err = v.answer(ctx, q, parsed, n, allow)
	}
	if err != nil {
		return out, err
	}
	var note string
	if loose, phrases, ok := parsed.Loose(); ok && len(out.Hits) == 0 {
		note = fmt.Sprintf("no note holds %q as it stands; these hold some of the words", phrases)
		out, s, err = v.answer(ctx, q, loose, n, allow)
	}
	if err != nil || len(out.Hits) == 0 {
		return out, err
	}
	spelled, err := s.plan.spelled(s.taken)
	out.Note = join([]string{note, spelled})
	return out, err
}

// answer also returns the sieve that took the hits.
func (v *view) answer(ctx context.Context, q Query, parsed query.Query, n narrower, allow []*roaring.Bitmap) (Result, *sieve, error) {
	p, err := newPlan(n, parsed, q.Prefix)
	if err != nil {
		return Result{}, nil, err
	}
	p.meaning = q.Meaning
	s := &sieve{plan: p, keep: q.Keep, limit: limitOf(q)}
	if parsed.Lists() {
		out, err := s.newest(ctx, allow)
		return out, s, err
	}
	words := p.plainWords()
	if words != nil {
		allow = p.related(words, allow)
	}
	out := Result{}
	if out.Total, err = p.total(allow); err != nil {
		return Result{}, nil, err
	}
	if words != nil {
		out.Hits, err = s.plain(ctx, words, allow)
	} else {
		out.Hits, err = s.structured(ctx, allow)
	}
	if err != nil {
		return Result{}, nil, err
	}
	return out, s, nil
}

func limitOf(q Query) int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

// A sieve takes the best candidates that are hits.
type sieve struct {
	plan  *plan
	keep  func(event.ID) bool
	limit int
	taken []docRef // of the hits
}

// widening is how many times more candidates plain looks at when too few of
// them are hits.
const widening = 16

// plain asks for more and more candidates until enough of them are hits or
// there are no more.
func (s *sieve) plain(ctx context.Context, words []*word, allow []*roaring.Bitmap) ([]Hit, error) {
	for size := max(s.limit, s.plan.depth(words)); ; size *= widening {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		candidates, err := s.plan.best(words, allow, size)
		if err != nil {
			return nil, err
		}
		hits := s.sift(words, candidates)
		if len(hits) == s.limit || len(candidates) < size {
			return hits, nil
		}
	}
}

func (s *sieve) sift(words []*word, candidates []candidate) []Hit {
	var out []Hit
	s.taken = nil
	complete := 0 // how many hits hold all the words; they come first
	for _, c := range candidates {
		if !s.plan.fits(words, c.docRef) || !s.keeps(c) {
			continue
		}
		if c.score >= allWords {
			complete++
		}
		out = append(out, s.hit(c))
		if len(out) == s.limit {
			break
		}
	}
	lift(out, complete)
	return out
}

// structured takes candidates, best first, until enough of them are hits.
func (s *sieve) structured(ctx context.Context, allow []*roaring.Bitmap) ([]Hit, error) {
	candidates, err := s.plan.all(allow)
	if err != nil {
		return nil, err
	}
	phrases := s.plan.latePhrases()
	var out []Hit
	for len(out) < s.limit {
		c, ok := candidates.take()
		if !ok {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		held, err := s.plan.holdsAll(c.docRef, phrases)
		if err != nil {
			return nil, err
		}
		if held && s.keeps(c) {
			out = append(out, s.hit(c))
		}
	}
	return out, nil
}

func (s *sieve) hit(c candidate) Hit {
	s.taken = append(s.taken, c.docRef)
	rows := s.plan.view.segs[c.part].rows
	return Hit{ID: rows.id(c.doc), Space: rows.Space(c.doc), Score: scoreOf(c.score &^ allWords), Matched: s.plan.shown(c.docRef)}
}

// lift raises the scores of the first hits above those of the others.
func lift(hits []Hit, first int) {
	if first < len(hits) {
		for i := range hits[:first] {
			hits[i].Score += hits[first].Score
		}
	}
}

func (s *sieve) keeps(c candidate) bool {
	return s.keep == nil || s.keep(s.plan.view.segs[c.part].rows.id(c.doc))
}

// latePhrases are the phrases that matching left to be looked up.
func (p *plan) latePhrases() []*phrase {
	var out []*phrase
	if len(p.either) == 1 {
		for _, t := range p.either[0].must {
			if t.phrase != nil {
				out = append(out, t.phrase)
			}
		}
	}
	return out
}

// holdsAll looks for phrases in the stored text of a document.
func (p *plan) holdsAll(ref docRef, phrases []*phrase) (bool, error) {
	for _, ph := range phrases {
		if ok, err := p.holds(ref.part, ref.doc, ph); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// shown are the words of the query that a document holds, as they were typed.
func (p *plan) shown(ref docRef) []string {
	var out []string
	for _, w := range p.words {
		if p.holdsWord(ref.part, ref.doc, w) {
			out = append(out, w.text)
		}
	}
	return out
}
