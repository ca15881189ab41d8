package search

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring"

	"cairn/internal/event"
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
	// Score compares the hits of one result; it falls from hit to hit.
	Score float64
	// Matched are the words and phrases of the query that the note holds.
	Matched []string
}

// noWords is the note of a result that could not find anything.
const noWords = `the query names no words; "log" lists the newest notes`

// Ask finds notes. Every text is a query, and at worst finds nothing. The
// error is that of ctx, ErrClosed or a *DamagedError.
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
	if parsed.IsEmpty() {
		return Result{Note: noWords}, nil
	}
	allow := make([]*roaring.Bitmap, len(v.segs))
	for i, part := range v.segs {
		var err error
		if allow[i], err = part.allowed(&q); err != nil {
			return Result{}, &DamagedError{Dir: v.dir, Err: err}
		}
	}
	out, err := v.answer(ctx, q, parsed, allow)
	if err != nil || len(out.Hits) > 0 {
		return out, err
	}
	loose, phrases, ok := parsed.Loose()
	if !ok {
		return out, nil
	}
	out, err = v.answer(ctx, q, loose, allow)
	if len(out.Hits) > 0 {
		out.Note = fmt.Sprintf("no note holds %q as it stands; these hold some of the words", phrases)
	}
	return out, err
}

func (v *view) answer(ctx context.Context, q Query, parsed query.Query, allow []*roaring.Bitmap) (Result, error) {
	p, err := newPlan(v, parsed, q.Prefix)
	if err != nil {
		return Result{}, err
	}
	total, err := p.total(allow)
	if err != nil {
		return Result{}, err
	}
	s := sieve{plan: p, keep: q.Keep, limit: limitOf(q), kept: map[docRef]bool{}}
	hits, err := s.hits(ctx, allow)
	return Result{Hits: hits, Total: total}, err
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
	kept  map[docRef]bool // what keep said
}

// widening is how many times more candidates hits looks at when too few of
// them are hits.
const widening = 16

// hits asks for more and more candidates until enough of them are hits or
// there are no more.
func (s *sieve) hits(ctx context.Context, allow []*roaring.Bitmap) ([]Hit, error) {
	for size := max(s.limit, closerLook); ; size *= widening {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		candidates, err := s.plan.best(allow, size)
		if err != nil {
			return nil, err
		}
		hits, err := s.sift(candidates)
		if err != nil {
			return nil, err
		}
		if len(hits) == s.limit || len(candidates) < size {
			return hits, nil
		}
	}
}

func (s *sieve) sift(candidates []candidate) ([]Hit, error) {
	var out []Hit
	complete := 0 // how many hits hold all the words; they come first
	for _, c := range candidates {
		rows := &s.plan.view.segs[c.part].rows
		id := rows.id(c.doc)
		ok, err := s.passes(c, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if c.score >= allWords {
			complete++
		}
		out = append(out, Hit{ID: id, Space: rows.spaceOf(c.doc), Score: scoreOf(c.score &^ allWords), Matched: s.plan.matched(c.docRef)})
		if len(out) == s.limit {
			break
		}
	}
	lift(out, complete)
	return out, nil
}

// lift raises the scores of the first hits above those of the others.
func lift(hits []Hit, first int) {
	if first < len(hits) {
		for i := range hits[:first] {
			hits[i].Score += hits[first].Score
		}
	}
}

func (s *sieve) passes(c candidate, id event.ID) (bool, error) {
	if words := s.plan.plainWords(); words != nil && !s.plan.fits(words, c.docRef) {
		return false, nil
	}
	for _, ph := range s.plan.latePhrases() {
		ok, err := s.plan.holds(c.part, c.doc, ph)
		if err != nil || !ok {
			return false, err
		}
	}
	if s.keep == nil {
		return true, nil
	}
	kept, asked := s.kept[c.docRef]
	if !asked {
		kept = s.keep(id)
		s.kept[c.docRef] = kept
	}
	return kept, nil
}

// latePhrases are the phrases that structured left to be looked up.
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

// matched are the words of the query that a document holds, as they were
// typed.
func (p *plan) matched(ref docRef) []string {
	var out []string
	for _, w := range p.words {
		if p.holdsWord(ref.part, ref.doc, w) {
			out = append(out, w.text)
		}
	}
	return out
}
