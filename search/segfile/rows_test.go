package segfile_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
	"pgregory.net/rapid"

	"cairn/search/segfile"
)

func rowsOf(t interface{ Fatal(...any) }, s segment.Segment) *segfile.Rows {
	dict, err := s.Dictionary("_id")
	if err != nil {
		t.Fatal(err)
	}
	return dict.(*segfile.Dictionary).Rows()
}

// read is all rows of a segment, in order.
func read(r *segfile.Rows) []segfile.Row {
	var out []segfile.Row
	for doc := range uint32(r.Len()) {
		out = append(out, segfile.Row{ID: r.ID(doc), Space: r.Space(doc), Time: r.Time(doc)})
	}
	return out
}

func given(docs []segment.Document) []segfile.Row {
	var out []segfile.Row
	for _, d := range docs {
		out = append(out, d.(*document).row)
	}
	return out
}

func load(t interface{ Fatal(...any) }, file []byte) *segfile.Segment {
	s, err := segfile.Load(segment.NewDataBytes(file))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The rows are those of the documents: in a new segment, in its file, and in
// one merged of several, without what was dropped.
func TestRowsAreThoseOfTheDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs1, docs2 := drawDocs(t), drawDocs(t)
		own1, _ := both(t, docs1)
		own2, _ := both(t, docs2)
		if got, want := read(rowsOf(t, load(t, written(t, own1)))), given(docs1); !slices.Equal(got, want) {
			t.Fatalf("rows %v, want %v", got, want)
		}
		drop := drawDrop(t, own1)
		whole := load(t, merged(t, []*roaring.Bitmap{drop, nil}, own1, own2))
		var want []segfile.Row
		for doc, row := range given(docs1) {
			if !drop.Contains(uint32(doc)) {
				want = append(want, row)
			}
		}
		want = append(want, given(docs2)...)
		rows := rowsOf(t, whole)
		if got := read(rows); !slices.Equal(got, want) {
			t.Fatalf("merged rows %v, want %v", got, want)
		}
		var nameless []uint32
		for doc, row := range want {
			if row.ID == "" {
				nameless = append(nameless, uint32(doc))
			}
		}
		if got := rows.Nameless(); !slices.Equal(got, nameless) {
			t.Fatalf("documents %v have no id, want %v", got, nameless)
		}
	})
}

// Ids compare as their texts do, in one segment and in two, whether they ascend
// nearly always, as most do, or hardly ever; rows remember few runs.
func TestIDsCompareAsTheirTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := rowsOf(t, made(t, drawRuns(t))), rowsOf(t, made(t, drawRuns(t)))
		for _, pair := range [][2]*segfile.Rows{{r, s}, {s, r}, {r, r}} {
			compareAll(t, pair[0], pair[1])
		}
	})
}

func compareAll(t *rapid.T, r, s *segfile.Rows) {
	for a := range uint32(r.Len()) {
		if (r.Start(a) == 0) != (r.ID(a) == "") {
			t.Fatalf("%q starts with %d", r.ID(a), r.Start(a))
		}
		for b := range uint32(s.Len()) {
			if r.ID(a) == "" || s.ID(b) == "" {
				continue
			}
			want := strings.Compare(r.ID(a), s.ID(b))
			if got := r.CompareIDs(a, s, b); got != want {
				t.Fatalf("%q and %q compare as %d", r.ID(a), s.ID(b), got)
			}
			if c := cmp.Compare(r.Start(a), s.Start(b)); c != 0 && c != want {
				t.Fatalf("the starts of %q and %q compare as %d", r.ID(a), s.ID(b), c)
			}
		}
	}
}

// drawRuns draws documents of which up to 40 runs ascend, many with the same
// start, and some without an id.
func drawRuns(t *rapid.T) (docs []segment.Document) {
	for range rapid.IntRange(0, 40).Draw(t, "runs") {
		run := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "b1", "likewise", "likewise1", "likewise2", "z"}), 1, 4).Draw(t, "run")
		slices.Sort(run)
		for _, id := range run {
			docs = append(docs, &document{row: segfile.Row{ID: id}, fields: []field{{name: "_id", terms: []string{fmt.Sprint(len(docs))}}}})
		}
	}
	return docs
}

func TestAFileEndsInItsChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, _ := both(t, drawDocs(t))
		for _, file := range [][]byte{written(t, own), merged(t, []*roaring.Bitmap{nil}, own)} {
			body, sum := file[:len(file)-crc32.Size], file[len(file)-crc32.Size:]
			if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
				t.Fatal("the checksum is wrong")
			}
		}
	})
}

func TestWhatNoRowCanHoldIsRefused(t *testing.T) {
	for name, row := range map[string]segfile.Row{
		"a long id":   {ID: strings.Repeat("x", segfile.MaxID+1)},
		"a zero byte": {ID: "a\x00b"},
	} {
		if _, _, err := segfile.New([]segment.Document{&document{row: row}}, norm); err == nil {
			t.Errorf("a segment takes %s", name)
		}
	}
	var docs []segment.Document
	for i := range 1<<16 + 1 {
		docs = append(docs, &document{row: segfile.Row{ID: "x", Space: fmt.Sprint(i)}})
	}
	if _, _, err := segfile.New(docs, norm); err == nil {
		t.Error("a segment takes more spaces than it can know")
	}
	if s, _, err := segfile.New(docs[:1<<16], norm); err != nil || rowsOf(t, s).Space(1<<16-1) != "65535" {
		t.Errorf("a segment does not take as many spaces as it can know (%v)", err)
	}
	if _, _, err := segfile.New([]segment.Document{struct{ segment.Document }{docs[0]}}, norm); err == nil {
		t.Error("a segment takes a document without a row")
	}
}

// sound is the file of three documents, and where its rows begin.
func sound(t interface{ Fatal(...any) }) (file []byte, rows int) {
	s, _, err := segfile.New([]segment.Document{
		&document{row: segfile.Row{ID: "01", Space: "team", Time: 5}},
		&document{row: segfile.Row{Space: "personal"}},
		&document{row: segfile.Row{ID: "02", Space: "team", Time: 7}},
	}, norm)
	if err != nil {
		t.Fatal(err)
	}
	file = written(t, s)
	return file, len(withoutRows(file))
}

// FuzzRows puts other bytes in the place of the rows of a sound file. Then it
// cannot be loaded, or all can be read.
func FuzzRows(f *testing.F) {
	file, at := sound(f)
	rows := file[at:]
	f.Add(rows)
	f.Add([]byte{})
	f.Add([]byte("\x00\x00\x00\x0100000000000000000000\x00\x00\x00\x00\x00\x00\x00\x10000000000000")) // the footer is then read elsewhere
	for i := range rows {
		flipped := bytes.Clone(rows)
		flipped[i] ^= 0xff
		f.Add(flipped)
		f.Add(slices.Delete(bytes.Clone(rows), i, i+1))
		f.Add(slices.Insert(bytes.Clone(rows), i, 1))
	}
	f.Fuzz(func(t *testing.T, rows []byte) {
		s, err := segfile.Load(segment.NewDataBytes(slices.Concat(file[:at], rows)))
		if err != nil {
			return
		}
		r := rowsOf(t, s)
		if r.Len() != 3 || len(read(r)) != 3 || len(r.Nameless()) > 3 {
			t.Fatalf("%d rows, without an id %v", r.Len(), r.Nameless())
		}
		r.CompareIDs(0, r, 2)
	})
}

// What can be seen when a file is loaded is seen then.
func TestDamagedRowsAreNotLoaded(t *testing.T) {
	file, at := sound(t)
	end := len(file) - 20 // of the names, where the trailer begins
	const width = 8 + 18 + 8
	for name, damage := range map[string]func([]byte){
		"a space without a name":   func(b []byte) { b[at+3*width+1] = 2 },
		"a document that is not":   func(b []byte) { b[at+3*(width+2)+3] = 3 },
		"a name that is too long":  func(b []byte) { b[end-1-len("personal")]++ },
		"a name that is too short": func(b []byte) { b[end-1-len("personal")]-- },
		"fewer rows":               func(b []byte) { b[end+7]-- },
		"more rows":                func(b []byte) { b[end+7]++ },
		"rows without an end":      func(b []byte) { b[end] = 0xff },
		"more without an id":       func(b []byte) { b[end+11]++ },
		"many without an id":       func(b []byte) { b[end+8] = 0xff },
		"more spaces":              func(b []byte) { b[end+15]++ },
		"many spaces":              func(b []byte) { b[end+12] = 0xff },
	} {
		spoiled := bytes.Clone(file)
		damage(spoiled)
		if _, err := segfile.Load(segment.NewDataBytes(spoiled)); err == nil {
			t.Errorf("%s: it is loaded", name)
		}
	}
	for n := range 24 {
		if _, err := segfile.Load(segment.NewDataBytes(file[:n])); err == nil {
			t.Errorf("the first %d bytes are loaded", n)
		}
	}
}
