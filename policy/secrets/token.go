package secrets

import "sort"

// A span is a range of bytes in one text.
type span struct{ start, end int }

func (s span) in(text []byte) []byte { return text[s.start:s.end] }

// A match is where a rule found a secret. It is certain when a checksum fits.
type match struct {
	span
	certain bool
}

// A check decides on one place where a literal of its rule stands.
type check func(text []byte, literal span) (match, bool)

// A part is one stretch of a token: a run over an alphabet, or a fixed text.
type part struct {
	in       *alphabet
	min, max int
	fixed    string
}

func (a *alphabet) n(n int) part           { return part{in: a, min: n, max: n} }
func (a *alphabet) from(min, max int) part { return part{in: a, min: min, max: max} }
func fixed(text string) part               { return part{fixed: text} }

// after is where the part ends that starts at from.
func (p part) after(text []byte, from int) (int, bool) {
	if p.in == nil {
		end := from + len(p.fixed)
		return end, end <= len(text) && string(text[from:end]) == p.fixed
	}
	end := p.in.after(text, from, p.max)
	return end, end-from >= p.min
}

// before is where the part starts that ends at to.
func (p part) before(text []byte, to int) (int, bool) {
	if p.in == nil {
		start := to - len(p.fixed)
		return start, start >= 0 && string(text[start:to]) == p.fixed
	}
	start := p.in.before(text, to, p.max)
	return start, to-start >= p.min
}

type parts = []part

// An edge says what may stand beside a token. Prefixes that occur inside words
// or inside other encoded text need more of it than long ones.
type edge uint8

const (
	glued  edge = iota // may touch letters on both sides
	left               // no letter or digit before it
	closed             // nor anything that could continue it behind it
)

// A token is a secret that shows by a literal in it: what precedes the literal
// (nearest part first), what follows, and what else must hold.
type token struct {
	head parts
	tail parts
	edge edge
	sum  func(token []byte) bool // a checksum over the whole token
	hold func(token []byte) bool // any other condition on the whole token
}

func (t token) check(text []byte, literal span) (match, bool) {
	start, end, ok := t.extent(text, literal)
	if !ok {
		return match{}, false
	}
	whole := text[start:end]
	certain := t.sum != nil && t.sum(whole)
	if !certain && !t.standsFree(text, start, end) {
		return match{}, false
	}
	if !looksRandom(longest(text[start:literal.start], text[literal.end:end])) {
		return match{}, false
	}
	if t.hold != nil && !t.hold(whole) {
		return match{}, false
	}
	return match{span{start, end}, certain}, true
}

func (t token) extent(text []byte, literal span) (start, end int, ok bool) {
	start, end = literal.start, literal.end
	for _, p := range t.tail {
		if end, ok = p.after(text, end); !ok {
			return 0, 0, false
		}
	}
	for _, p := range t.head {
		if start, ok = p.before(text, start); !ok {
			return 0, 0, false
		}
	}
	return start, end, true
}

func (t token) standsFree(text []byte, start, end int) bool {
	if t.edge >= left && t.first().at(text, start-1) {
		return false
	}
	if t.edge < closed || len(t.tail) == 0 {
		return true
	}
	last := t.tail[len(t.tail)-1].in
	return last == nil || !last.at(text, end)
}

// checkAtSeams is check for a text that was joined: a token of several pieces
// may begin and end at a seam, whatever stands behind it.
func (t token) checkAtSeams(v view, literal span) (match, bool) {
	start, end, ok := t.extent(v.text, literal)
	if t.edge == glued || !ok {
		return match{}, false
	}
	seams := v.origin.steps
	from, ends := 0, []int{len(v.text)}
	if t.first().at(v.text, start-1) {
		i := sort.Search(len(seams), func(i int) bool { return seams[i].out >= start })
		if i == len(seams) || seams[i].out > literal.start {
			return match{}, false
		}
		from = seams[i].out
	}
	after := sort.Search(len(seams), func(i int) bool { return seams[i].out > end })
	for i := after - 1; i >= 0 && i > after-3 && seams[i].out > literal.end; i-- {
		ends = append(ends, seams[i].out)
	}
	for _, to := range ends {
		m, ok := t.check(v.text[from:to], span{literal.start - from, literal.end - from})
		if ok {
			m.start, m.end = m.start+from, m.end+from
			return m, true
		}
	}
	return match{}, false
}

// first is what may not stand before the token: letters and digits, or what
// could be more of its head.
func (t token) first() *alphabet {
	if n := len(t.head); n > 0 && t.head[n-1].in != nil {
		return t.head[n-1].in
	}
	return base62
}

func longest(a, b []byte) []byte {
	if len(a) > len(b) {
		return a
	}
	return b
}

// A tokenRow is one line in the tables of tokens.
type tokenRow struct {
	id, about string
	literals  []string
	token
}

func tokenRules(rows []tokenRow) []*rule {
	var rules []*rule
	for _, row := range rows {
		form := row.token
		rules = append(rules, &rule{id: row.id, about: row.about, literals: row.literals, compact: true, check: form.check,
			form: func([]byte) token { return form }})
	}
	return rules
}

type list = []string

// uuid is the form of an identifier by RFC 9562, in lower case, behind first.
func uuid(first ...part) parts {
	dash := fixed("-")
	return append(first, anyHex.n(8), dash, anyHex.n(4), dash, anyHex.n(4), dash, anyHex.n(4), dash, anyHex.n(12))
}
