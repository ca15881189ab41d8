package segfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
	"pgregory.net/rapid"

	"cairn/search/segfile"
)

type document struct {
	row    segfile.Row
	fields []field
}

func (d *document) Analyze()         {}
func (d *document) Row() segfile.Row { return d.row }

func (d *document) EachField(visit segment.VisitField) {
	for i := range d.fields {
		visit(&d.fields[i])
	}
}

type field struct {
	name  string
	terms []string
	value []byte
}

func (f *field) Name() string         { return f.name }
func (f *field) Length() int          { return len(f.terms) }
func (f *field) Value() []byte        { return f.value }
func (f *field) Index() bool          { return true }
func (f *field) Store() bool          { return f.value != nil }
func (f *field) IndexDocValues() bool { return false }

func (f *field) EachTerm(visit segment.VisitTerm) {
	for _, t := range f.terms {
		visit(term(t))
	}
}

type term string

func (t term) Term() []byte                       { return []byte(t) }
func (t term) Frequency() int                     { return 1 }
func (t term) EachLocation(segment.VisitLocation) {}

func norm(string, int) float32 { return 1 } // that ice wants

func drawDocs(t *rapid.T) []segment.Document {
	word := rapid.SampledFrom([]string{"a", "b", "c", "aa", "ab", "日本", "lock", "longer", "x\x01a", "x\x01b", "rare1", "rare2", "rare3"})
	var docs []segment.Document
	for i := range rapid.IntRange(1, 40).Draw(t, "docs") {
		d := &document{
			row:    drawRow(t),
			fields: []field{{name: "_id", terms: []string{fmt.Sprint("doc", i)}}},
		}
		for _, name := range []string{"t", "f", "s"} {
			if rapid.IntRange(0, 4).Draw(t, "has") == 0 {
				continue
			}
			f := field{name: name, terms: rapid.SliceOfNDistinct(word, 0, 8, rapid.ID).Draw(t, "terms")}
			if rapid.Bool().Draw(t, "stored") {
				f.value = rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "value")
			}
			d.fields = append(d.fields, f)
		}
		docs = append(docs, d)
	}
	return docs
}

func drawRow(t *rapid.T) segfile.Row {
	return segfile.Row{
		ID:    rapid.StringMatching(`[a-z0-9]{0,26}`).Draw(t, "id"),
		Space: rapid.SampledFrom([]string{"", "team", "personal", "日本"}).Draw(t, "space"),
		Time:  rapid.Int64().Draw(t, "time"),
	}
}

// both makes the same segment in both ways.
func both(t interface{ Fatal(...any) }, docs []segment.Document) (own, theirs segment.Segment) {
	own, _, err := segfile.New(docs, norm)
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err = ice.New(docs, norm)
	if err != nil {
		t.Fatal(err)
	}
	return own, theirs
}

// merged joins segments of this package.
func merged(t interface{ Fatal(...any) }, drops []*roaring.Bitmap, segments ...segment.Segment) []byte {
	return written(t, segfile.Merge(segments, drops, 1<<16))
}

func written(t interface{ Fatal(...any) }, from interface {
	WriteTo(io.Writer, chan struct{}) (int64, error)
}) []byte {
	var out bytes.Buffer
	n, err := from.WriteTo(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(out.Len()) {
		t.Fatal("it says that it wrote", n, "bytes of", out.Len())
	}
	return out.Bytes()
}

// withoutRows is the part of a file before the rows.
func withoutRows(file []byte) []byte {
	trailer := file[len(file)-20:]
	return file[:len(file)-20-int(binary.BigEndian.Uint64(trailer))]
}

// A Builder makes what New makes, whatever it made before, and whether it is given
// the terms of a document or their numbers.
func TestABuilderMakesOneSegmentAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := segfile.NewBuilder()
		for range rapid.IntRange(1, 3).Draw(t, "segments") {
			docs := drawDocs(t)
			for _, d := range docs {
				addToBuilder(t, b, d.(*document))
			}
			if b.Len() != len(docs) {
				t.Fatalf("it has %d documents of %d", b.Len(), len(docs))
			}
			got, err := b.Segment()
			check(t, err)
			handed, _, err := segfile.New([]segment.Document{got.AsDocument()}, norm)
			check(t, err)
			want, _ := both(t, docs)
			if got, want := dump(t, handed), dump(t, want); !slices.Equal(got, want) {
				t.Fatalf("the segment reads\n%q\nwant\n%q", got, want)
			}
		}
	})
}

// addToBuilder gives some terms of a document by their numbers, and some twice.
func addToBuilder(t *rapid.T, b *segfile.Builder, d *document) {
	rest := &document{row: d.row}
	type hit struct {
		field *segfile.Field
		term  uint32
	}
	var hits []hit
	for _, f := range d.fields {
		n := rapid.IntRange(0, len(f.terms)).Draw(t, "as numbers")
		for _, term := range f.terms[:n] {
			own := b.Field(f.name)
			hits = append(hits, hit{own, own.Number([]byte(term))})
		}
		f.terms = f.terms[n/2:]
		rest.fields = append(rest.fields, f)
	}
	check(t, b.Add(rest))
	for _, h := range hits {
		b.Hit(h.field, h.term)
	}
}

// Merging is making a segment of the documents that stay.
func TestMergingIsMakingOneOfWhatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []segment.Segment
		var drops []*roaring.Bitmap
		var stay []segment.Document
		for range rapid.IntRange(1, 4).Draw(t, "segments") {
			docs := drawDocs(t)
			own, _ := both(t, docs)
			segments = append(segments, own)
			drop := roaring.New()
			if rapid.Bool().Draw(t, "drops") {
				drop = drawDrop(t, own)
			}
			drops = append(drops, drop)
			for i, d := range docs {
				if !drop.Contains(uint32(i)) {
					stay = append(stay, d)
				}
			}
		}
		again, err := segfile.Load(segment.NewDataBytes(merged(t, drops, segments...)))
		check(t, err)
		if len(stay) == 0 {
			if n := again.Count(); n != 0 {
				t.Fatalf("%d documents stay of none", n)
			}
			return
		}
		want, _ := both(t, stay)
		if got, want := dump(t, again), dump(t, want); !slices.Equal(got, want) {
			t.Fatalf("the merged segment reads\n%q\nwant\n%q", got, want)
		}
	})
}

// Bluge takes back what was removed meanwhile by these numbers.
func TestMergedDocumentsAreNumberedAsIceNumbersThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own1, theirs1 := both(t, drawDocs(t))
		own2, theirs2 := both(t, drawDocs(t))
		drops := []*roaring.Bitmap{drawDrop(t, own1), nil}
		ours := segfile.Merge([]segment.Segment{own1, own2}, drops, 0)
		written(t, ours)
		theirs := ice.Merge([]segment.Segment{theirs1, theirs2}, drops, 1<<16)
		written(t, theirs)
		if got, want := ours.DocumentNumbers(), theirs.DocumentNumbers(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("numbers %v, want %v", got, want)
		}
	})
}

func TestAMergeStopsWhenItIsToldTo(t *testing.T) {
	own, _ := both(t, []segment.Document{&document{fields: []field{{name: "_id", terms: []string{"one"}}}}})
	closed := make(chan struct{})
	close(closed)
	var out bytes.Buffer
	_, err := segfile.Merge([]segment.Segment{own}, []*roaring.Bitmap{nil}, 0).WriteTo(&out, closed)
	if !errors.Is(err, segment.ErrClosed) {
		t.Errorf("WriteTo: %v, want ErrClosed", err)
	}
}

// Whatever byte of a segment is another one, it is not merged into a file whose
// checksum fits.
func TestADamagedSegmentIsNotMerged(t *testing.T) {
	file, _ := sound(t)
	loaded := 0
	for at := range file {
		spoiled := bytes.Clone(file)
		spoiled[at] ^= 1
		s, err := segfile.Load(segment.NewDataBytes(spoiled))
		if err != nil {
			continue
		}
		loaded++
		_, err = segfile.Merge([]segment.Segment{s}, []*roaring.Bitmap{nil}, 0).WriteTo(io.Discard, nil)
		if !errors.Is(err, segfile.ErrDamaged) {
			t.Errorf("with another byte at %d: %v, want ErrDamaged", at, err)
		}
	}
	if loaded == 0 {
		t.Fatal("no damaged segment could be loaded: the test shows nothing")
	}
}

func drawDrop(t *rapid.T, s segment.Segment) *roaring.Bitmap {
	drop := roaring.New()
	for doc := range uint32(s.Count()) {
		if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
			drop.Add(doc)
		}
	}
	return drop
}

func TestASegmentReadsLikeOneThatIceMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, theirs := both(t, drawDocs(t))
		if got, want := dump(t, own), dump(t, theirs); !slices.Equal(got, want) {
			t.Fatalf("the segment reads\n%q\nwant\n%q", got, want)
		}
		again, err := segfile.Load(segment.NewDataBytes(written(t, own)))
		check(t, err)
		if got, want := dump(t, again), dump(t, own); !slices.Equal(got, want) {
			t.Fatalf("the file reads\n%q\nwant\n%q", got, want)
		}
	})
}

func TestStoredValuesReadAsIceReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, theirs := both(t, drawDocs(t))
		for doc := range uint32(own.Count()) {
			var want, got []string
			check(t, theirs.VisitStoredFields(uint64(doc), func(name string, value []byte) bool {
				want = append(want, fmt.Sprintf("%s %q", name, value))
				return true
			}))
			check(t, wordsOf(t, own).Stored(doc, func(values []segfile.Value) {
				for _, v := range values {
					got = append(got, fmt.Sprintf("%s %q", v.Field, v.Bytes))
				}
			}))
			if !slices.Equal(got, want) {
				t.Fatalf("document %d has %q, want %q", doc, got, want)
			}
		}
	})
}

func wordsOf(t interface{ Fatal(...any) }, s segment.Segment) *segfile.Dictionary {
	dict, err := s.Dictionary("t")
	if err != nil {
		t.Fatal(err)
	}
	return dict.(*segfile.Dictionary)
}

// Whatever byte is another one, reading stored values neither panics nor takes
// more memory than they can need.
func TestDamagedStoredValuesAreRefusedOrRead(t *testing.T) {
	value := []byte(strings.Repeat("a note of some length, ", 20))
	s, _, err := segfile.New([]segment.Document{&document{fields: []field{
		{name: "_id", terms: []string{"one"}}, {name: "s", value: value}, {name: "v", value: []byte("place")},
	}}}, norm)
	if err != nil {
		t.Fatal(err)
	}
	file := written(t, s)
	refused := 0
	for at := range file {
		for _, as := range [][]byte{{0xff}, {0}, {0xff, 0xff, 0xff, 0xff, 0x0f}} {
			spoiled := bytes.Clone(file)
			copy(spoiled[at:], as)
			s, err := segfile.Load(segment.NewDataBytes(spoiled))
			if err != nil {
				continue
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if wordsOf(t, s).Stored(0, func([]segfile.Value) {}) != nil {
				refused++
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("with %x at %d it takes %d bytes", as, at, n)
			}
		}
	}
	if refused == 0 {
		t.Fatal("no damage was met: the test shows nothing")
	}
}

// dump is all that can be read of a segment.
func dump(t *rapid.T, s segment.Segment) []string {
	out := []string{fmt.Sprint(s.Count())}
	for doc := range s.Count() {
		check(t, s.VisitStoredFields(doc, func(name string, value []byte) bool {
			out = append(out, fmt.Sprintf("stored %d %s %q", doc, name, value))
			return true
		}))
	}
	for _, name := range s.Fields() {
		for _, list := range listsOf(t, s, name, "") {
			out = append(out, name+" "+list)
		}
	}
	return out
}

func check(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// The terms of a field and their lists are those that ice reads of the same
// documents, in new and in merged segments, from whatever start.
func TestListsReadAsIceReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, others := drawDocs(t), drawDocs(t)
		own, theirs := both(t, docs)
		other, _ := both(t, others)
		merged := load(t, merged(t, []*roaring.Bitmap{nil, nil}, own, other))
		_, both := both(t, slices.Concat(docs, others))
		start := rapid.SampledFrom([]string{"", "a", "x\x01", "rare", "日", "\xff", "nothing"}).Draw(t, "start")
		for own, theirs := range map[segment.Segment]segment.Segment{own: theirs, merged: both} {
			for _, field := range []string{"_id", "t", "f", "s", "absent"} {
				if got, want := listsOf(t, own, field, start), listsOf(t, theirs, field, start); !slices.Equal(got, want) {
					t.Fatalf("field %s from %q reads\n%q\nwant\n%q", field, start, got, want)
				}
			}
		}
	})
}

// listsOf reads lists of either kind of segment.
func listsOf(t *rapid.T, s segment.Segment, field, start string) (out []string) {
	dict, err := s.Dictionary(field)
	check(t, err)
	own, ok := dict.(*segfile.Dictionary)
	if !ok {
		return listsByIce(t, dict, start)
	}
	for e, err := range own.Begin([]byte(start), nil) {
		check(t, err)
		docs, err := e.Docs.Bitmap()
		check(t, err)
		out = append(out, fmt.Sprintf("%q: %v", e.Term, docs.ToArray()))
		if doc, only := e.Docs.One(); only && docs.GetCardinality() != 1 || only && !docs.Contains(doc) {
			t.Fatalf("%q: %d is not the only document", e.Term, doc)
		}
		all, err := e.Docs.AppendTo([]uint32{7})
		check(t, err)
		if !slices.Equal(all[1:], docs.ToArray()) {
			t.Fatalf("%q: appended are %d, in the bitmap %d", e.Term, all, docs.ToArray())
		}
		if held, err := own.Contains(e.Term); err != nil || !held {
			t.Fatalf("it says that no document holds %q (%v)", e.Term, err)
		}
	}
	return out
}

func listsByIce(t *rapid.T, dict segment.Dictionary, start string) (out []string) {
	for it := dict.Iterator(nil, nil, nil); ; {
		e, err := it.Next()
		check(t, err)
		if e == nil {
			return out
		}
		if !strings.HasPrefix(e.Term(), start) {
			continue
		}
		list, err := dict.PostingsList([]byte(e.Term()), nil, nil)
		check(t, err)
		docs := roaring.New()
		list.(*ice.PostingsList).OrInto(docs)
		out = append(out, fmt.Sprintf("%q: %v", e.Term(), docs.ToArray()))
	}
}

type named struct{ field, term string }

func (n named) Field() string { return n.field }
func (n named) Term() []byte  { return []byte(n.term) }

// Bluge looks up so what a new document replaces.
func TestDocumentsAreFoundByTermsAsIceFindsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, theirs := both(t, drawDocs(t))
		var terms []segment.Term
		for range rapid.IntRange(0, 6).Draw(t, "terms") {
			terms = append(terms, named{
				rapid.SampledFrom(own.Fields()).Draw(t, "field"),
				rapid.SampledFrom([]string{"doc0", "doc7", "doc39", "a", "rare1", "日本", "nothing"}).Draw(t, "term"),
			})
		}
		got, err := own.DocsMatchingTerms(terms)
		check(t, err)
		want, err := theirs.DocsMatchingTerms(terms)
		check(t, err)
		if !got.Equals(want) {
			t.Fatalf("%v are in %v, want %v", terms, got, want)
		}
	})
}

func TestLongListsMergeAsTheyWere(t *testing.T) {
	var docs []segment.Document
	for i := range 80_000 {
		f := field{name: "t", terms: []string{"all", fmt.Sprint("mod", i%7), fmt.Sprint("some", i%997), fmt.Sprint("only", i)}}
		if i > 66_000 {
			f.terms = append(f.terms, "late")
		}
		docs = append(docs, &document{fields: []field{{name: "_id", terms: []string{fmt.Sprintf("doc%06d", i)}}, f}})
	}
	make := func(docs []segment.Document) segment.Segment {
		s, _, err := segfile.New(docs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := make(docs)
	got := merged(t, []*roaring.Bitmap{nil, nil}, make(docs[:40_000]), make(docs[40_000:]))
	if !bytes.Equal(got, written(t, whole)) {
		t.Fatal("the merged segment is not the one of all documents")
	}
}
