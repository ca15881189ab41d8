package packfmt_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"pgregory.net/rapid"

	"cairn/sync/gitstore/internal/packfmt"
)

// Law: what AppendHeader writes ReadHeader reads, to the byte.
func TestHeaderRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawHeader(t)
		b := packfmt.AppendHeader(nil, want)
		want.Length = len(b)
		if len(b) > packfmt.MaxHeaderSize {
			t.Errorf("%d bytes", len(b))
		}
		got, err := packfmt.ParseHeader(append(b, "and the stream"...))
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		for n := range b {
			if _, err := packfmt.ParseHeader(b[:n]); err != io.ErrUnexpectedEOF {
				t.Errorf("cut at %d of %d: %v", n, len(b), err)
			}
		}
	})
}

func drawHeader(t *rapid.T) packfmt.Header {
	h := packfmt.Header{Size: rapid.Int64Range(0, 1<<50).Draw(t, "size")}
	h.Type = rapid.SampledFrom([]plumbing.ObjectType{1, 2, 3, 4, 6, 7}).Draw(t, "type")
	switch h.Type {
	case plumbing.OFSDeltaObject:
		h.Distance = rapid.Int64Range(1, 1<<50).Draw(t, "distance")
	case plumbing.REFDeltaObject:
		copy(h.Base[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "base"))
	}
	return h
}

func TestMalformedHeaders(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"type 0":            {0x05},
		"type 5":            {0x55},
		"size without end":  bytes.Repeat([]byte{0xff}, 20),
		"offset zero":       {0x65, 0x00},
		"offset beyond all": append([]byte{0x65}, bytes.Repeat([]byte{0xff}, 20)...),
	} {
		if h, err := packfmt.ParseHeader(b); !errors.Is(err, packfmt.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte{0x35})
	f.Add([]byte{0x95, 0x0a, 0x78})
	f.Add(packfmt.AppendHeader(nil, packfmt.Header{Type: plumbing.OFSDeltaObject, Size: 1 << 40, Distance: 1 << 40}))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := packfmt.ParseHeader(b)
		if err != nil {
			return
		}
		if h.Size < 0 || h.Distance < 0 || h.Length < 1 || h.Length > len(b) {
			t.Errorf("%x is %+v", b, h)
		}
		again, err := packfmt.ParseHeader(packfmt.AppendHeader(nil, h))
		h.Length, again.Length = 0, 0
		if err != nil || again != h {
			t.Errorf("%+v comes back as %+v, %v", h, again, err)
		}
	})
}

// Law: applying the delta from a to b makes b of a.
func TestDeltaRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SliceOfN(rapid.Byte(), 0, 300)
		prefix, suffix := part.Draw(t, "prefix"), part.Draw(t, "suffix")
		base := join(prefix, part.Draw(t, "old middle"), suffix)
		target := join(prefix, part.Draw(t, "new middle"), suffix)
		delta := packfmt.MakeDelta(base, target)
		b, n, err := packfmt.DeltaSizes(delta)
		if err != nil || b != int64(len(base)) || n != int64(len(target)) {
			t.Errorf("sizes %d, %d, %v", b, n, err)
		}
		got, err := packfmt.ApplyDelta(base, delta)
		if err != nil || !bytes.Equal(got, target) {
			t.Errorf("got %x, %v; want %x", got, err, target)
		}
	})
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestDeltaOfALongTree(t *testing.T) {
	t.Parallel()
	base := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	target := append(bytes.Clone(base), "one more entry"...)
	delta := packfmt.MakeDelta(base, target)
	got, err := packfmt.ApplyDelta(base, delta)
	if err != nil || !bytes.Equal(got, target) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if len(delta) > 80 {
		t.Errorf("the delta has %d bytes", len(delta))
	}
}

func TestMalformedDeltas(t *testing.T) {
	t.Parallel()
	base := []byte("0123456789")
	for name, delta := range map[string][]byte{
		"empty":               {},
		"one size":            {10},
		"size without end":    bytes.Repeat([]byte{0xff}, 12),
		"another base":        {9, 1, 1, 'x'},
		"less than it claims": {10, 3, 2, 'a', 'b'},
		"more than it claims": {10, 1, 2, 'a', 'b'},
		"reserved":            {10, 0, 0},
		"insert cut short":    {10, 5, 5, 'a', 'b'},
		"copy cut short":      {10, 5, 0x91, 1},
		"copy from behind":    {10, 5, 0x91, 8, 5},
		"copy of 64 KiB":      {10, 5, 0x80},
	} {
		if got, err := packfmt.ApplyDelta(base, delta); !errors.Is(err, packfmt.ErrMalformed) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzApplyDelta(f *testing.F) {
	base := bytes.Repeat([]byte("0123456789"), 10)
	f.Add(base, packfmt.MakeDelta(base, base[:50]))
	f.Add([]byte{}, []byte{0, 1, 1, 'x'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		_, size, err := packfmt.DeltaSizes(delta)
		if err != nil || size > 1<<20 {
			return
		}
		got, err := packfmt.ApplyDelta(base, delta)
		if err == nil && int64(len(got)) != size {
			t.Errorf("%d bytes, want %d", len(got), size)
		}
	})
}

func TestInflateTakesItsStreamAndNoMore(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, 1 << 20, 3 << 20} {
		want := bytes.Repeat([]byte{'x'}, size)
		r := bufio.NewReader(bytes.NewReader(append(deflate(t, want), "what follows"...)))
		got, err := packfmt.Inflate(r, int64(size))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "what follows" {
			t.Errorf("%d bytes: left %q", size, rest)
		}
		for _, wrong := range []int64{int64(size) - 1, int64(size) + 1} {
			if wrong < 0 {
				continue
			}
			if _, err := packfmt.Inflate(bufio.NewReader(bytes.NewReader(deflate(t, want))), wrong); err == nil {
				t.Errorf("%d bytes passed for %d", size, wrong)
			}
		}
	}
}

func TestInflatePrefix(t *testing.T) {
	t.Parallel()
	stream := deflate(t, []byte("blob 5\x00hello"))
	for n, want := range map[int]string{0: "", 4: "blob", 100: "blob 5\x00hello"} {
		got, err := packfmt.InflatePrefix(bufio.NewReader(bytes.NewReader(stream)), n)
		if err != nil || string(got) != want {
			t.Errorf("%d: %q, %v", n, got, err)
		}
	}
	if _, err := packfmt.InflatePrefix(bufio.NewReader(bytes.NewReader(nil)), 1); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriterCountsItsEntries(t *testing.T) {
	t.Parallel()
	w, err := packfmt.NewWriter(io.Discard, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Finish(); err == nil {
		t.Error("a pack that lacks an entry was finished")
	}
	if err := w.Object(plumbing.ZeroHash, plumbing.BlobObject, nil); err != nil {
		t.Error(err)
	}
	if err := w.Object(plumbing.ZeroHash, plumbing.BlobObject, nil); err == nil {
		t.Error("an entry too many was taken")
	}
	for _, level := range []int{-1, 10} {
		if _, err := packfmt.NewWriter(io.Discard, 0, level); err == nil {
			t.Errorf("level %d was taken", level)
		}
	}
}

// Law: an index finds what was put into it, and only that; go-git reads the same out of it.
func TestIndexRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		var sum plumbing.Hash
		copy(sum[:], "checksum of the pack")
		var b bytes.Buffer
		if err := packfmt.WriteIndex(&b, entries, sum); err != nil {
			t.Fatal(err)
		}
		x, err := packfmt.OpenIndex(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if err := x.VerifyChecksum(); err != nil {
			t.Error(err)
		}
		if got, err := x.PackSum(); err != nil || got != sum {
			t.Errorf("pack checksum %s, %v", got, err)
		}
		compareWithGoGit(t, b.Bytes(), x, entries)
	})
}

func drawEntries(t *rapid.T) []packfmt.IndexEntry {
	seen := map[plumbing.Hash]bool{}
	var entries []packfmt.IndexEntry
	narrow := rapid.Bool().Draw(t, "ids that are much alike")
	for i := range rapid.IntRange(0, 400).Draw(t, "count") {
		var h plumbing.Hash
		if narrow {
			h[19], h[18] = byte(i), byte(i>>8)
		} else {
			copy(h[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "id"))
		}
		if seen[h] {
			continue
		}
		seen[h] = true
		offset := rapid.OneOf(rapid.Int64Range(12, 1<<31+5), rapid.Int64Range(1<<31-5, 1<<40)).Draw(t, "offset")
		entries = append(entries, packfmt.IndexEntry{Hash: h, Offset: offset, CRC: uint32(i)})
	}
	return entries
}

func compareWithGoGit(t *rapid.T, data []byte, x *packfmt.Index, entries []packfmt.IndexEntry) {
	oracle := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(bytes.NewReader(data)).Decode(oracle); err != nil {
		t.Fatal(err)
	}
	all, err := x.Entries()
	if err != nil || len(all) != len(entries) || x.Count() != len(entries) {
		t.Fatalf("%d entries, %v; want %d", len(all), err, len(entries))
	}
	for i, e := range entries { // sorted by WriteIndex
		at, found, err := x.Find(e.Hash)
		if err != nil || !found || at != e.Offset {
			t.Errorf("found at %d, %v, %v; want %+v", at, found, err, e)
		}
		got, ok, err := x.Entry(e.Hash)
		if err != nil || !ok || got != e || all[i] != e {
			t.Errorf("entry %+v, %v, %v; listed %+v; want %+v", got, ok, err, all[i], e)
		}
		if offset, err := oracle.FindOffset(e.Hash); err != nil || offset != e.Offset {
			t.Errorf("go-git finds %d, %v", offset, err)
		}
		other := e.Hash
		other[10] ^= 1
		if at, ok, err := x.Find(other); err != nil || ok {
			t.Errorf("found %s at %d, %v", other, at, err)
		}
	}
}

// An index with over 128 ids is searched piece by piece, also when they are crafted to fool the first guess.
func TestIndexOfIdsThatAreAllAlike(t *testing.T) {
	t.Parallel()
	var entries []packfmt.IndexEntry
	for i := range 5000 {
		h := plumbing.Hash{1: 0xff, 17: 1, 18: byte(i >> 8), 19: byte(i)}
		entries = append(entries, packfmt.IndexEntry{Hash: h, Offset: int64(12 + i)})
	}
	var b bytes.Buffer
	if err := packfmt.WriteIndex(&b, entries, plumbing.ZeroHash); err != nil {
		t.Fatal(err)
	}
	reads := &countingReaderAt{r: bytes.NewReader(b.Bytes())}
	x, err := packfmt.OpenIndex(reads, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(entries); i += 7 {
		reads.n = 0
		if got, ok, err := x.Find(entries[i].Hash); err != nil || !ok || got != entries[i].Offset {
			t.Fatalf("entry %d: %d, %v, %v", i, got, ok, err)
		}
		if reads.n > 12 {
			t.Fatalf("entry %d took %d reads", i, reads.n)
		}
	}
}

type countingReaderAt struct {
	r io.ReaderAt
	n int
}

func (c *countingReaderAt) ReadAt(b []byte, at int64) (int, error) {
	c.n++
	return c.r.ReadAt(b, at)
}

func FuzzIndex(f *testing.F) {
	entries := []packfmt.IndexEntry{
		{Hash: plumbing.Hash{1}, Offset: 12}, {Hash: plumbing.Hash{2}, Offset: 1 << 33}, {Hash: plumbing.Hash{0xff}, Offset: 99},
	}
	var b bytes.Buffer
	if err := packfmt.WriteIndex(&b, entries, plumbing.ZeroHash); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:1100])
	f.Add([]byte{0xff, 't', 'O', 'c', 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := packfmt.OpenIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		all, err := x.Entries()
		if err != nil {
			return
		}
		for _, e := range all {
			if e.Offset < 0 {
				t.Errorf("%s is at %d", e.Hash, e.Offset)
			}
		}
		for _, h := range []plumbing.Hash{{}, {1}, {0xff}} {
			_, _, err := x.Find(h)
			_, _, entryErr := x.Entry(h)
			for _, err := range []error{err, entryErr} {
				if err != nil && !errors.Is(err, packfmt.ErrMalformed) {
					t.Error(err)
				}
			}
		}
	})
}

func TestSimilarRoundTrip(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"device: 7abq2mfk5zr3", "text", "0123456789", "\n", "a", "", "the same line as before\n", "\x00\xff"})
	text := rapid.Custom(func(t *rapid.T) []byte {
		return []byte(strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), ""))
	})
	rapid.Check(t, func(t *rapid.T) {
		base, target := text.Draw(t, "base"), text.Draw(t, "target")
		s := packfmt.NewSimilar(base)
		if s == nil {
			return // too short to be of use
		}
		got, err := packfmt.ApplyDelta(base, s.Delta(target))
		if err != nil || !bytes.Equal(got, target) {
			t.Fatalf("%q, %v; want %q", got, err, target)
		}
	})
}

func TestSimilarFindsWhatStandsElsewhere(t *testing.T) {
	t.Parallel()
	const long = "a line that stands in both, somewhere, and is long enough to matter\n"
	base := []byte("the beginning\n" + long + strings.Repeat("between ", 9) + long[:40] + "the end\n")
	target := []byte("another beginning\n" + long + "another end\n" + long[:40])
	if d := packfmt.NewSimilar(base).Delta(target); len(d) > 50 {
		t.Errorf("%d bytes for a target of %d", len(d), len(target))
	}
	for _, size := range []int{0, 11, 1 << 16} {
		if packfmt.NewSimilar(make([]byte, size)) != nil {
			t.Errorf("a base of %d bytes is of use", size)
		}
	}
}

// indexOf makes an index of entries.
func indexOf(t *rapid.T, entries []packfmt.IndexEntry) *packfmt.Index {
	var buf bytes.Buffer
	if err := packfmt.WriteIndex(&buf, entries, plumbing.Hash{1}); err != nil {
		t.Fatal(err)
	}
	x, err := packfmt.OpenIndex(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Law: joined indexes are the index of everything in them, or there is something twice.
func TestJoinedIndexesAreOneIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []packfmt.IndexPart
		var all []packfmt.IndexEntry
		seen, twice := map[plumbing.Hash]bool{}, false
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			var own []packfmt.IndexEntry
			for n := range rapid.IntRange(0, 30).Draw(t, "entries") {
				h := plumbing.Hash{rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "second"), byte(n)}
				if rapid.IntRange(0, 9).Draw(t, "own") > 0 {
					h[3] = byte(i)
				}
				own = append(own, packfmt.IndexEntry{Hash: h, Offset: int64(12 + 50*n), CRC: rapid.Uint32().Draw(t, "crc")})
			}
			shift := int64(2000 * i)
			parts = append(parts, packfmt.IndexPart{Index: indexOf(t, slices.Clone(own)), Shift: shift})
			for _, e := range own {
				twice = twice || seen[e.Hash]
				seen[e.Hash] = true
				e.Offset += shift
				all = append(all, e)
			}
		}
		var got, want bytes.Buffer
		err := packfmt.JoinIndexes(&got, parts, plumbing.Hash{9})
		if twice {
			if !errors.Is(err, packfmt.ErrTwice) {
				t.Fatalf("something is in it twice: %v", err)
			}
			return
		}
		if werr := packfmt.WriteIndex(&want, all, plumbing.Hash{9}); err != nil || werr != nil {
			t.Fatal(err, werr)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatal("they differ from an index that was made at once")
		}
	})
}

func TestOffsetsBeyondAnIndexAreNotJoined(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := indexOf(t, []packfmt.IndexEntry{{Hash: plumbing.Hash{1}, Offset: 100}})
		shift := rapid.SampledFrom([]int64{1<<31 - 101, 1<<31 - 100}).Draw(t, "shift")
		err := packfmt.JoinIndexes(io.Discard, []packfmt.IndexPart{{Index: x, Shift: shift}}, plumbing.Hash{})
		if fits := shift+100 < 1<<31; fits != (err == nil) {
			t.Fatalf("shifted by %d: %v", shift, err)
		}
	})
}
