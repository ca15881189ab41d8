package query

import "slices"

// A Query matches a note that one of its expressions matches, all of Only and
// none of Never. Without an expression it lists: it matches what Only and Never
// leave, or nothing if there are none of them either.
type Query struct {
	Either []Expr
	Only   []Term // made of filters alone, like Never: they narrow and do not rank
	Never  []Term
	// Remarks say what in the text was not taken for what it looks like.
	Remarks []string
}

// An Expr matches a note that all of Must match, none of Not, and at least one
// of Want, if there are any. If it has neither Want nor Must, Not is made of
// filters alone.
type Expr struct {
	Want []Word
	Must []Term
	Not  []Term
	Asks bool // it is put as a sentence, and so not every word of Want counts
}

// A Term is one thing that must match or must not. Exactly one of its members
// is set.
type Term struct {
	Word   *Word
	Phrase *Phrase
	Group  *Query // of which only Either is set
	Filter *Filter
}

// A Field says where in a note a word has to stand, or what a filter looks at.
type Field uint8

// The fields. Those after Title are no part of the text.
const (
	Anywhere Field = iota
	Title
	Tag
	Kind
	Harness
	Device
	Project
	Since // recorded at or after
	Until // recorded before
)

// A Word is one word of the question in all the forms under which a note may
// hold it. The forms are as package analysis makes them, not stemmed.
type Word struct {
	Text  string   // as it was typed
	Field Field    // where it has to stand
	Parts []string // all of these together are the word
	Whole []string // and so is any of these alone
	Base  string   // it is nearly this, if not empty
	Stop  bool     // it says nothing about what a note is about
	Open  bool     // it ends the question and may be unfinished; never in a script without spaces
	Star  bool     // everything that begins with it is asked for
	Name  bool     // it begins with a capital inside a sentence
}

// A Phrase is words in this order with nothing between them.
type Phrase struct {
	Text  string // as it was typed, without the quotes
	Field Field
	Words []string
}

// IsEmpty says that there is nothing to look for.
func (q Query) IsEmpty() bool { return len(q.Either) == 0 }

// Lists says that there is nothing to look for, but something to list.
func (q Query) Lists() bool { return q.IsEmpty() && len(q.Only)+len(q.Never) > 0 }

func (e Expr) isEmpty() bool {
	return len(e.Want) == 0 && len(e.Must) == 0 && !slices.ContainsFunc(e.Not, Term.narrows)
}

// Loose is the same question with its phrases taken for mere words, and what
// those phrases were. It is false unless the question is a plain one, without
// operators and fields, that quotes something, such as a title, among other
// words.
func (q Query) Loose() (loose Query, phrases []string, ok bool) {
	if len(q.Either) != 1 || len(q.Either[0].Want) == 0 || len(q.Either[0].Not) > 0 {
		return Query{}, nil, false
	}
	for _, t := range q.Either[0].Must {
		if t.Phrase == nil || t.Phrase.Field != Anywhere {
			return Query{}, nil, false
		}
		phrases = append(phrases, t.Phrase.Text)
	}
	loose, ok = q.AnyWord()
	return loose, phrases, ok
}

// AnyWord is a plain question for the words of the query, without quotes and
// operators; false if it is one already.
func (q Query) AnyWord() (plain Query, ok bool) {
	if len(q.Either) == 1 && len(q.Either[0].Must)+len(q.Either[0].Not) == 0 {
		return Query{}, false
	}
	var want []Word
	q.Words(func(w Word) {
		w.Field = Anywhere
		want = append(want, w)
	}, func(p Phrase) { want = append(want, wordsOf(item{text: p.Text})...) })
	if len(want) == 0 {
		return Query{}, false
	}
	e := Expr{Want: meaningful(distinct(newRoom().take(want))), Asks: len(q.Either) == 1 && q.Either[0].Asks}
	return Query{Either: []Expr{e}, Only: q.Only, Never: q.Never}, true
}

// WithoutFilters is the query without what narrows it; false if nothing does,
// or if it is nothing else.
func (q Query) WithoutFilters() (Query, bool) {
	ok := !q.IsEmpty() && len(q.Only)+len(q.Never) > 0
	return Query{Either: q.Either}, ok
}

// Words calls fn with every word and phrase that a match may show: not those
// behind NOT.
func (q Query) Words(fn func(Word), phrase func(Phrase)) {
	for _, e := range q.Either {
		for _, w := range e.Want {
			fn(w)
		}
		for _, t := range e.Must {
			switch {
			case t.Word != nil:
				fn(*t.Word)
			case t.Phrase != nil:
				phrase(*t.Phrase)
			case t.Group != nil:
				t.Group.Words(fn, phrase)
			}
		}
	}
}
