package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/search/analysis"
	"cairn/search/segfile"
)

// The fields of a document. Bluge wants the name of the first.
const (
	keyField   = "_id"
	wordField  = "t"
	facetField = "f"
	textField  = "s"
	placeField = "v"
)

// The kinds of facets, which filter and never score.
const (
	spaceFacet   = 's'
	kindFacet    = 'k'
	tagFacet     = 't'
	harnessFacet = 'h'
	deviceFacet  = 'd'
	actorFacet   = 'a'
	projectFacet = 'p'
)

// facet takes no notice of case: a tool calls itself Codex here and codex there.
func facet(kind byte, value string) string { return string(kind) + strings.ToLower(value) }

// A document is a note in the terms of Bluge. It is complete before Bluge sees
// it, so Analyze has nothing left to do.
type document struct {
	row    segfile.Row
	fields []field
}

func (d *document) Analyze() {}

func (d *document) Row() segfile.Row { return d.row }

func (d *document) EachField(visit segment.VisitField) {
	for i := range d.fields {
		visit(&d.fields[i])
	}
}

// A field is one field of a document. Every term has frequency 1: what would
// be its frequency is in its level.
type field struct {
	name  string
	terms [][]byte
	value []byte // stored, if not nil
}

func (f *field) Name() string         { return f.name }
func (f *field) Length() int          { return len(f.terms) }
func (f *field) Value() []byte        { return f.value }
func (f *field) Index() bool          { return len(f.terms) > 0 }
func (f *field) Store() bool          { return f.value != nil }
func (f *field) IndexDocValues() bool { return false } // the row is

func (f *field) EachTerm(visit segment.VisitTerm) {
	for _, t := range f.terms {
		visit(fieldTerm(t))
	}
}

type fieldTerm []byte

func (t fieldTerm) Term() []byte                       { return t }
func (t fieldTerm) Frequency() int                     { return 1 }
func (t fieldTerm) EachLocation(segment.VisitLocation) {}

// key names a document to Bluge.
type key string

func (k key) Field() string { return keyField }
func (k key) Term() []byte  { return []byte(k) }

func keyFieldOf(k string) field { return field{name: keyField, terms: [][]byte{[]byte(k)}} }

func markDocument(space string, m Mark) *document {
	return &document{
		row:    segfile.Row{Space: space},
		fields: []field{keyFieldOf(markKey(space)), {name: textField, value: encodeMark(m)}},
	}
}

// A documentMaker turns notes into documents. It is not safe for concurrent
// use.
type documentMaker struct {
	terms *termMaker
	used  []*weighed // keys in the note at hand
	words int
	text  []byte // see regionEnd
	names []byte // the end of it
}

func newDocumentMaker() *documentMaker { return &documentMaker{terms: newTermMaker()} }

func (m *documentMaker) document(space string, d *Doc) *document {
	m.read(d)
	return outline(space, d, slices.Clone(m.text), field{name: wordField, terms: m.wordTerms()})
}

// read takes in a note.
func (m *documentMaker) read(d *Doc) {
	m.reset()
	if isBeginning(d.Title, d.Body) {
		m.add(d.Title, 0, true) // its words count in the body
		m.words = 0
	} else {
		m.add(d.Title, titleWeight, true)
	}
	m.endRegion()
	for _, tag := range d.Tags {
		m.add(tag, tagWeight, false)
		m.text = append(m.text, lineEnd...)
	}
	m.endRegion()
	m.add(d.Body, bodyWeight, false)
	m.endRegion()
	m.text = append(m.text, m.names...)
}

func (m *documentMaker) endRegion() { m.text = append(m.text, regionEnd...) }

// outline is the document of a note with its stored text and what else is given.
func outline(space string, d *Doc, text []byte, others ...field) *document {
	fields := append([]field{
		keyFieldOf(noteKey(space, d.ID)),
		{name: facetField, terms: facetsOf(space, d)},
		{name: textField, value: text},
	}, others...)
	if d.Meaning != nil {
		fields = append(fields, field{name: placeField, value: d.Meaning})
	}
	row := segfile.Row{ID: string(d.ID), Space: space, Time: d.Recorded.UnixMilli()}
	return &document{row: row, fields: fields}
}

// longHeading is how many characters the longest heading has.
const longHeading = 60

// isBeginning says that a title was not given as one: it is the beginning of
// the first line of the text, cut off somewhere in the middle, and no heading.
func isBeginning(title, body string) bool {
	if utf8.RuneCountInString(title) <= longHeading {
		return false
	}
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	line = strings.TrimSpace(strings.Map(blankControl, line))
	return len(line) > len(title) && strings.HasPrefix(line, title)
}

func blankControl(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func (m *documentMaker) reset() {
	for _, w := range m.used {
		w.weight, w.used = 0, false
	}
	m.used = m.used[:0]
	m.terms.tidy()
	m.words = 0
	m.text, m.names = m.text[:0], m.names[:0]
}

// add takes in one part of a note.
func (m *documentMaker) add(text string, weight float64, title bool) {
	m.text = append(m.text, ' ')
	last := ""
	for span := range analysis.Spans(text) {
		for _, t := range m.terms.tokens(span) {
			m.weigh(t.wordTerms, weight)
			if title {
				m.weighKey(m.terms.title(t.wordTerms), 0)
			}
			last = m.sequence(t.Token, last)
		}
	}
}

func (m *documentMaker) weigh(t *wordTerms, weight float64) {
	m.weighKey(t.stem, weight)
	if t.exact != nil {
		m.weighKey(t.exact, weight)
	}
	for _, e := range t.edges {
		m.weighKey(e, weight)
	}
}

func (m *documentMaker) weighKey(w *weighed, weight float64) {
	if !w.used {
		w.used = true
		m.used = append(m.used, w)
	}
	w.weight += weight
}

// sequence notes where in the text a token stands after the last one, and
// returns it if it stands there.
func (m *documentMaker) sequence(tok analysis.Token, last string) string {
	if tok.Form == analysis.Whole {
		m.names = append(append(append(m.names, ' '), tok.Text...), " "+lineEnd...)
	}
	if !tok.InText() {
		return last
	}
	m.words++
	m.text = append(append(m.text, tok.Text...), ' ')
	if last != "" && arePaired(last, tok.Text) {
		m.weighKey(m.terms.pair(pairGroup(last, tok.Text)), 0)
	}
	return tok.Text
}

// level is that of a key in the note that was read. What weighs nothing, such as
// a group of pairs, is at the lowest.
func (m *documentMaker) level(w *weighed) level { return levelOf(w.weight, m.words) }

func (m *documentMaker) wordTerms() [][]byte {
	out := make([][]byte, 0, len(m.used))
	room := len(m.used)
	for _, w := range m.used {
		room += len(w.key)
	}
	all := make([]byte, 0, room)
	for _, w := range m.used {
		start := len(all)
		all = appendTerm(all, w.key, m.level(w))
		out = append(out, all[start:len(all):len(all)])
	}
	return out
}

func facetsOf(space string, d *Doc) [][]byte {
	out := []string{facet(spaceFacet, space)}
	for kind, value := range map[byte]string{
		kindFacet: d.Kind, harnessFacet: d.Harness, deviceFacet: d.Device, actorFacet: d.Actor, projectFacet: d.Project,
	} {
		if value != "" {
			out = append(out, facet(kind, value))
		}
	}
	for _, tag := range d.Tags {
		out = append(out, facet(tagFacet, tag))
	}
	slices.Sort(out)
	var terms [][]byte
	for _, f := range slices.Compact(out) {
		terms = append(terms, []byte(f))
	}
	return terms
}

// The stored text of a note is its words, folded, each between two spaces, in
// the order of the text: the title, a line for each tag, the body, and then a
// line for each name that is more than its words. A phrase is looked for in it.
const (
	regionEnd = "\x02"
	lineEnd   = "\n"
)
