package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Parse reads a question. Every text has a meaning, if only the empty one.
func Parse(text string) Query {
	items, remarks := settleFields(lex(text))
	items = settle(items)
	if !bracketsCount(items) {
		items = slices.DeleteFunc(items, item.isBracket)
	}
	p := parser{items: unquote(items), room: newRoom()}
	q := p.query().withFiltersApart()
	q.Remarks = remarks
	return q
}

// maxRemarks is how many remarks there are at most; more would say nothing new.
const maxRemarks = 4

// settleFields drops fields of which nothing is asked, and takes a time that
// is none for text.
func settleFields(items []item) (out []item, remarks []string) {
	for _, it := range items {
		switch {
		case it.asksNothing():
			if last := len(out) - 1; last >= 0 && out[last].kind == notItem {
				out = out[:last]
			}
			continue
		case it.namesNoTime():
			remark := fmt.Sprintf("%.64s names no time, so it is looked for as text", it.name+it.text)
			if len(remarks) < maxRemarks && !slices.Contains(remarks, remark) {
				remarks = append(remarks, remark)
			}
			it.kind, it.text, it.field, it.name = chunkItem, it.name+it.text, Anywhere, ""
		}
		out = append(out, it)
	}
	return out, remarks
}

// afterNot are what follows NOT in SQL and in the answers of HTTP, as these are
// written.
var afterNot = map[string]bool{
	"NULL": true, "EXISTS": true, "IN": true, "LIKE": true, "ILIKE": true, "BETWEEN": true, "DEFERRABLE": true, "VALID": true, "MATCHED": true,
	"FOUND": true, "MODIFIED": true, "ALLOWED": true, "ACCEPTABLE": true, "IMPLEMENTED": true,
}

// settle turns operators that have nothing to work on into text. AND and OR
// stand between two operands; NOT takes something away from what stands
// before it, or, before a field, from all notes. In NOT NULL it is a keyword.
func settle(items []item) []item {
	prev := item{kind: noItem}
	for i := range items {
		next := at(items, i+1)
		ok := true
		switch items[i].kind {
		case orItem:
			ok = prev.ends() && (next.starts() || next.kind == notItem && negatesAlone(items, i+2))
		case andItem:
			ok = prev.ends() && (next.starts() || next.kind == notItem && at(items, i+2).starts())
		case notItem:
			ok = ((prev.ends() || prev.kind == andItem) && next.starts() || negatesAlone(items, i+1)) && !afterNot[next.name+next.text]
		}
		if !ok {
			items[i].kind = chunkItem
		}
		prev = items[i]
	}
	return items
}

// manyOthers is how many other words there are in a text where a quoted word is
// but a name, such as the thread in a message of an error.
const manyOthers = 4

// unquote makes a single quoted word among many others, and no operators, a word
// like them. Whoever wants only notes with a word does not add many more.
func unquote(items []item) []item {
	others := 0
	for _, it := range items {
		switch {
		case it.kind == chunkItem && it.field == Anywhere:
			others++
		case it.kind != chunkItem && it.kind != phraseItem:
			return items
		}
	}
	if others < manyOthers {
		return items
	}
	for i, it := range items {
		if it.kind == phraseItem && it.field == Anywhere && !strings.ContainsFunc(it.text, unicode.IsSpace) {
			items[i].kind = chunkItem
		}
	}
	return items
}

func at(items []item, i int) item {
	if i < len(items) {
		return items[i]
	}
	return item{kind: noItem}
}

// bracketsCount says that brackets are meant as such: they pair up, and there
// is an operator for them to matter to.
func bracketsCount(items []item) bool {
	depth, operator := 0, false
	for _, it := range items {
		switch it.kind {
		case openItem:
			depth++
		case closeItem:
			depth--
		case andItem, orItem, notItem:
			operator = true
		}
		if depth < 0 || depth > maxDepth {
			return false
		}
	}
	return depth == 0 && operator
}

// maxDepth is how deep brackets may nest before they are taken for noise.
const maxDepth = 32

func (it item) isBracket() bool { return it.kind == openItem || it.kind == closeItem }
func (it item) starts() bool {
	return it.kind == chunkItem || it.kind == phraseItem || it.kind == openItem
}
func (it item) ends() bool {
	return it.kind == chunkItem || it.kind == phraseItem || it.kind == closeItem
}

type parser struct {
	items []item
	room  *room
}

func (p *parser) kind() itemKind { return at(p.items, 0).kind }

func (p *parser) take() item {
	it := p.items[0]
	p.items = p.items[1:]
	return it
}

// query reads expressions set apart by OR, up to the end or a closing bracket.
func (p *parser) query() Query {
	var q Query
	for {
		if e := exprOf(p.operands()); !e.isEmpty() {
			q.Either = append(q.Either, e)
		}
		if p.kind() != orItem {
			return q
		}
		p.take()
	}
}

// An operand is what stands between two operators: the words of a chunk, or
// one term that is not a plain word.
type operand struct {
	words []Word
	term  *Term
	and   bool // AND stands before it
	not   bool // NOT stands before it
}

func (p *parser) operands() []operand {
	var out []operand
	var and, not bool
	for {
		switch p.kind() {
		case andItem:
			and = true
			p.take()
			continue
		case notItem:
			not = true
			p.take()
			continue
		case chunkItem, phraseItem, openItem:
			op := p.operand()
			op.and, op.not = and, not
			out = append(out, op)
			and, not = false, false
		case closeItem, orItem, noItem:
			return out
		}
	}
}

func (p *parser) operand() operand {
	it := p.take()
	switch {
	case it.isFilter():
		f := filterOf(it)
		return operand{term: &Term{Filter: &f}}
	case it.kind == phraseItem:
		return p.phrase(it)
	case it.kind == openItem:
		group := p.query()
		if p.kind() == closeItem {
			p.take()
		}
		if group.IsEmpty() {
			return operand{}
		}
		return operand{term: &Term{Group: &group}}
	}
	return operand{words: p.room.take(wordsOf(it))}
}

// phrase makes a quoted text a phrase, or, when it holds one word alone, that
// word as it stands.
func (p *parser) phrase(it item) operand {
	ph := Phrase{Text: it.text, Field: it.field, Words: sequence(it.text)}
	ph.Words = ph.Words[:min(len(ph.Words), p.room.words)]
	p.room.words -= len(ph.Words)
	if len(ph.Words) == 0 {
		return operand{}
	}
	return operand{term: &Term{Phrase: &ph}}
}

func exprOf(ops []operand) Expr {
	var e Expr
	for i, op := range ops {
		must := op.and || op.term != nil || i+1 < len(ops) && ops[i+1].and
		switch {
		case op.not:
			e.Not = append(e.Not, op.terms()...)
		case must:
			e.Must = append(e.Must, op.terms()...)
		default:
			e.want(op.words)
		}
	}
	e.Want = distinct(e.Want)
	e.Asks = isSentence(e.Want)
	if slices.ContainsFunc(e.Must, Term.asks) {
		e.Want = slices.DeleteFunc(e.Want, Word.isMute)
	} else {
		e.Want = meaningful(e.Want)
	}
	return e
}

// want adds words that are merely wanted; a word with a field is required.
func (e *Expr) want(words []Word) {
	for _, w := range words {
		if w.Field == Anywhere {
			e.Want = append(e.Want, w)
		} else {
			e.Must = append(e.Must, Term{Word: &w})
		}
	}
}

func (op operand) terms() []Term {
	if op.term != nil {
		return []Term{*op.term}
	}
	var out []Term
	for _, w := range op.words {
		out = append(out, Term{Word: &w})
	}
	return out
}
