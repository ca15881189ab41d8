package segfile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	segment "github.com/blugelabs/bluge_segment_api"
	"pgregory.net/rapid"
)

// drawTerms is terms in order, of which many begin alike, and the documents of
// each.
func drawTerms(t *rapid.T) (terms []string, docs [][]uint32) {
	begins := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\xffé")), 0, 9, -1), 1, 4).Draw(t, "begins")
	for range rapid.IntRange(0, 120).Draw(t, "terms") {
		end := rapid.StringOfN(rapid.RuneFrom([]rune("abc\x00\x01")), 0, 6, -1).Draw(t, "end")
		terms = append(terms, rapid.SampledFrom(begins).Draw(t, "begin")+end)
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	for range terms {
		docs = append(docs, drawList(t, 3))
	}
	return terms, docs
}

// listOf writes terms as the only ones of a segment and reads them again.
func listOf(t interface{ Fatal(...any) }, terms []string, docs [][]uint32) *termList {
	out := &output{}
	w := newFieldWriter(out)
	for i, term := range terms {
		if err := w.add([]byte(term), docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	at := w.end()
	s := &Segment{data: segment.NewDataBytes(out.buf), docs: 1 << 30}
	l, err := s.readTerms(at)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// begun is what a Dictionary says of the terms that begin with start, as text.
func begun(t interface{ Fatal(...any) }, l *termList, start string, pick Automaton) (out []string) {
	d := &Dictionary{terms: l}
	for e, err := range d.Begin([]byte(start), pick) {
		if err != nil {
			t.Fatal(err)
		}
		docs, err := e.Docs.AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q %d", e.Term, docs))
	}
	return out
}

func TestTermsAreFoundByWhatTheyBeginWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms, docs := drawTerms(t)
		l := listOf(t, terms, docs)
		sought := rapid.OneOf(rapid.Just(""), rapid.SampledFrom(append(terms, "b")), rapid.StringOfN(rapid.RuneFrom([]rune("ab\xff")), 0, 9, -1))
		for range 8 {
			start := sought.Draw(t, "start")
			start = start[:rapid.IntRange(0, len(start)).Draw(t, "of it")]
			var want []string
			for i, term := range terms {
				if strings.HasPrefix(term, start) {
					want = append(want, fmt.Sprintf("%q %d", term, docs[i]))
				}
			}
			if got := begun(t, l, start, nil); !slices.Equal(got, want) {
				t.Fatalf("%q begins\n%v\nwant\n%v\nof %q", start, got, want, terms)
			}
			i, there := slices.BinarySearch(terms, start)
			list, found, err := l.get([]byte(start))
			if err != nil || found != there {
				t.Fatalf("get %q: %v (%v), want %v", start, found, err, there)
			}
			if !found {
				continue
			}
			if got, err := list.AppendTo(nil); err != nil || !slices.Equal(got, docs[i]) {
				t.Fatalf("get %q: %d (%v), want %d", start, got, err, docs[i])
			}
		}
	})
}

// A table is an Automaton of any sort. It also says whether it would have been
// asked to go on from where it cannot match.
type tableAutomaton struct {
	next    [8][4]int
	match   [8]bool
	dead    int // this state cannot match, nor can what follows it
	crossed bool
}

func (a *tableAutomaton) Start() int         { return 0 }
func (a *tableAutomaton) IsMatch(s int) bool { return s != a.dead && a.match[s] }
func (a *tableAutomaton) CanMatch(s int) bool {
	return s != a.dead
}

func (a *tableAutomaton) Accept(s int, b byte) int {
	a.crossed = a.crossed || s == a.dead
	return a.next[s][b%4]
}

func (a *tableAutomaton) accepts(term string) bool {
	s := a.Start()
	for i := range len(term) {
		if s == a.dead {
			return false
		}
		s = a.next[s][term[i]%4]
	}
	return a.IsMatch(s)
}

func TestAnAutomatonPicksWhatItAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms, docs := drawTerms(t)
		if rapid.Bool().Draw(t, "many that begin alike") {
			for i := range 200 {
				terms = append(terms, fmt.Sprintf("ab%03d", i))
			}
			slices.Sort(terms)
			terms = slices.Compact(terms)
			docs = slices.Repeat([][]uint32{{1, 2}}, len(terms))
		}
		l := listOf(t, terms, docs)
		a := &tableAutomaton{dead: rapid.IntRange(1, 7).Draw(t, "dead")}
		for s := range a.next {
			for b := range a.next[s] {
				a.next[s][b] = rapid.IntRange(0, 7).Draw(t, "next")
			}
			a.match[s] = rapid.Bool().Draw(t, "match")
		}
		start := rapid.SampledFrom([]string{"", "a", "ab"}).Draw(t, "start")
		var want []string
		for i, term := range terms {
			if strings.HasPrefix(term, start) && a.accepts(term) {
				want = append(want, fmt.Sprintf("%q %d", term, docs[i]))
			}
		}
		if got := begun(t, l, start, a); !slices.Equal(got, want) {
			t.Fatalf("%q begins\n%v\nwant\n%v\nof %q", start, got, want, terms)
		}
		if a.crossed {
			t.Fatal("it goes on where nothing can match")
		}
	})
}

// FuzzTerms reads any bytes as the terms of a field: that ends, with an error or
// with documents of the segment, and looking for a term does too.
// A cursor that leaves terms behind does not come back to them, even where terms
// are out of order and the column of their beginnings says so too.
func TestACursorGoesForwardInDamagedTerms(t *testing.T) {
	l := &termList{docs: 1}
	add := func(shared int, text string) {
		l.entries = append(l.entries, byte(shared), byte(len(text)))
		l.entries = append(append(l.entries, text...), oneForm)
	}
	block := func(term string) {
		l.begins = binary.BigEndian.AppendUint64(l.begins, startOf([]byte(term)))
		l.places = binary.BigEndian.AppendUint64(l.places, uint64(len(l.entries)))
	}
	block("a")
	add(0, "a")
	add(1, "d") // "ab1" was its like
	for range termBlock - 2 {
		add(1, "b1")
	}
	block("z")
	add(0, "ab2")
	c := &cursor{}
	more, err := c.seek(l, []byte("a"))
	steps := 0
	for ; more && err == nil && steps < 10*termBlock; steps++ {
		if strings.HasPrefix(string(c.term), "ab") {
			more, err = c.leave(len("ab"))
		} else {
			more, err = c.next()
		}
	}
	if more || err != nil {
		t.Errorf("after %d steps through %d terms the cursor stands at %q: %v", steps, termBlock+1, c.term, err)
	}
}

func FuzzTerms(f *testing.F) {
	out := &output{}
	w := newFieldWriter(out)
	for i := range 40 {
		docs := []uint32{uint32(i)}
		if i%3 == 0 {
			docs = append(docs, uint32(i)+1, uint32(i)+70_000)
		}
		if err := w.add(fmt.Appendf(nil, "term%03d", i), docs); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(out.buf[:w.end()], uint16(3), []byte("term020"))
	f.Add([]byte{}, uint16(0), []byte("a"))
	f.Add([]byte{5, 1, 'a', 0}, uint16(1), []byte("a"))
	f.Fuzz(func(t *testing.T, entries []byte, blocks uint16, sought []byte) {
		const of = 100_000
		l := &termList{entries: entries, docs: of}
		for i := range int(blocks) { // at any places
			at := 0
			if len(entries) > 0 {
				at = i * 7 % len(entries)
			}
			l.places = binary.BigEndian.AppendUint64(l.places, uint64(at))
			first, err := l.first(i)
			if err != nil {
				first = nil
			}
			l.begins = binary.BigEndian.AppendUint64(l.begins, startOf(first))
		}
		if len(entries) == 0 {
			l.begins, l.places = nil, nil
		}
		d := &Dictionary{terms: l}
		var buf []uint32
		for _, start := range [][]byte{nil, sought} {
			for e, err := range d.Begin(start, nil) {
				if err != nil {
					break
				}
				docs, err := e.Docs.AppendTo(buf[:0])
				if err == nil && slices.ContainsFunc(docs, func(doc uint32) bool { return doc >= of }) {
					t.Fatalf("%q is in %d", e.Term, docs)
				}
			}
		}
		if _, _, err := l.get(sought); err != nil {
			return
		}
	})
}
