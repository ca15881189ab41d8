package segfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"testing"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/search/segfile"
)

// signed puts other bytes into a file, under a checksum that fits.
func signed(file, bytesAt []byte, at int) []byte {
	out := bytes.Clone(file)
	end := len(out) - crc32.Size
	copy(out[min(at, end):end], bytesAt)
	binary.BigEndian.PutUint32(out[end:], crc32.ChecksumIEEE(out[:end]))
	return out
}

// listed is a file with lists of every form.
func listed(t *testing.T, docs int) []byte {
	t.Helper()
	var all []segment.Document
	for i := range docs {
		f := field{name: "t", terms: []string{"all", fmt.Sprint("some", i%5)}}
		if i%16 == 0 {
			f.terms = append(f.terms, fmt.Sprint("only", i))
		}
		all = append(all, &document{row: segfile.Row{ID: fmt.Sprint(i)}, fields: []field{{name: "_id", terms: []string{fmt.Sprint("doc", i)}}, f}})
	}
	return written(t, made(t, all))
}

// Bluge looks up what a new document replaces in a goroutine of its own, and goes
// on with the documents that it is told. Whatever byte is another one, even if the
// checksum fits, it is told of an error or of documents that there are.
func TestDamageInListsIsAnErrorWhereverTheyAreLookedUp(t *testing.T) {
	var terms []segment.Term
	for i := range 40 {
		terms = append(terms, named{"_id", fmt.Sprint("doc", i)}, named{"t", fmt.Sprint("only", i)}, named{"t", fmt.Sprint("some", i)})
	}
	terms = append(terms, named{"t", "all"})
	refused := 0
	for _, docs := range []int{40, 2100} { // the longest list is gaps, and a bitmap
		file := listed(t, docs)
		for at := 0; at < len(file); at += 1 + len(file)/1500 {
			for _, as := range [][]byte{{0xff}, {0}, {0xff, 0xff, 0xff, 0xff, 0x0f}} {
				s, err := segfile.Load(segment.NewDataBytes(signed(file, as, at)))
				if err != nil {
					continue
				}
				found, err := s.DocsMatchingTerms(terms)
				switch {
				case err != nil && !errors.Is(err, segfile.ErrDamaged):
					t.Fatalf("with %x at %d: %v, want ErrDamaged", as, at, err)
				case err != nil:
					refused++
				case !found.IsEmpty() && uint64(found.Maximum()) >= s.Count():
					t.Fatalf("with %x at %d: document %d of %d", as, at, found.Maximum(), s.Count())
				}
			}
		}
	}
	if refused == 0 {
		t.Fatal("no damage was met: the test shows nothing")
	}
}

// A merge that fails for another reason is tried again. One that meets damage must
// not be, even if the checksum fits.
func TestAMergeCallsDamageByItsName(t *testing.T) {
	file := listed(t, 40)
	refused := 0
	for at := range file {
		s, err := segfile.Load(segment.NewDataBytes(signed(file, []byte{file[at] ^ 0xff}, at)))
		if err != nil {
			continue
		}
		err = merge(s)
		if err != nil && !errors.Is(err, segfile.ErrDamaged) {
			t.Fatalf("with another byte at %d: %v, want ErrDamaged", at, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("no damage was met: the test shows nothing")
	}
}

// merge takes a panic for damage, as package search does.
func merge(s segment.Segment) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = segfile.ErrDamaged
		}
	}()
	_, err = segfile.Merge([]segment.Segment{s}, []*roaring.Bitmap{nil}, 0).WriteTo(io.Discard, nil)
	return err
}
